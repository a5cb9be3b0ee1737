import { type Logger, pino } from 'pino';

export type { Logger };

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
  'jwtSecret',
  'encryptionKeys',
  'code',
  'recoveryKey',
];

/**
 * The one structured logger: JSON lines on standard error, or at the end of a file.
 * Keys are the same everywhere: `requestId`, `activityId`, `operationId`, `workflowId`, `computerId`.
 */
export function createLogger(options: { level: string; role: string; file?: string }): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: options.file ?? 2, sync: true }),
  );
}
