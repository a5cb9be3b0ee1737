import { type Logger, pino } from 'pino';
import { currentLogFields } from './log-fields.ts';
import { createLogSink, type LogSink } from './log-sink.ts';
import { activeSpanContext } from './tracing.ts';

export type { Logger };

/** Log lines of a logger dropped since the process started, because their reader was too slow. */
export function droppedLogLines(logger: Logger): number {
  const { [pino.symbols.streamSym]: sink } = logger as { [pino.symbols.streamSym]?: Partial<LogSink> };
  return sink?.dropped?.() ?? 0;
}

function contextFields(): object {
  const span = activeSpanContext();
  return { ...currentLogFields(), ...(span && { trace_id: span.traceId, span_id: span.spanId }) };
}

/** The code is renamed, because `code` can hold a script and is redacted. */
function serializeError(error: Error): object {
  const { code, ...described } = pino.stdSerializers.err(error) as pino.SerializedError & { code?: unknown };
  return code === undefined ? described : { ...described, errorCode: code };
}

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

/** JSON lines on standard error, or appended to a file, with the same keys everywhere (`activityId`, `trace_id`). */
export function createLogger(options: { level: string; role: string; file?: string }): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: contextFields,
      serializers: { err: serializeError },
    },
    options.file === undefined ? createLogSink(2) : pino.destination({ dest: options.file, sync: true }),
  );
}
