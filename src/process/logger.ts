import { type Logger, pino } from 'pino';
import { currentLogFields } from './log-fields.ts';
import { createLogSink, type LogSink } from './log-sink.ts';
import { activeSpan } from './tracing.ts';

export type { Logger };

let sink: LogSink | null = null;

/** One for all loggers of the process. */
function standardError(): LogSink {
  sink ??= createLogSink(2);
  return sink;
}

/** Lines of the log that were dropped since the process began, because nobody took them. */
export function droppedLogLines(): number {
  return sink?.dropped() ?? 0;
}

/** What a line is about, as far as that is known where it is written. */
function surroundings(): object {
  const span = activeSpan();
  return { ...currentLogFields(), ...(span && { trace_id: span.traceId, span_id: span.spanId }) };
}

/** An error as pino tells of it; its code goes by another name, as what is called `code` can be a script. */
function describeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error) as pino.SerializedError & { code?: unknown };
  return code === undefined ? described : { ...described, errorCode: code };
}

/** Names whose values never reach a log, at any of the depths below. */
const SECRET_KEYS = [
  'password',
  'new_password',
  'registration_password',
  'secret_key',
  'access_key',
  'token',
  'authorization',
  'secureId',
  'jwtSecrets',
  'encryptionKeys',
  'code',
  'recoveryKey',
];

/**
 * The one structured logger: JSON lines on standard error, or at the end of a file.
 * Keys are the same everywhere: `requestId`, `activityId`, `operationId`, `workflowId`, `laneId`, `computerId`, and
 * `trace_id` and `span_id` as OpenTelemetry names them.
 */
export function createLogger(options: { level: string; role: string; file?: string }): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: surroundings,
      serializers: { err: describeError },
    },
    options.file === undefined ? standardError() : pino.destination({ dest: options.file, sync: true }),
  );
}
