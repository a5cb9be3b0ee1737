import { flushCompileCache } from 'node:module';
import type { Logger } from './logger.ts';
import { ConfigError } from './setting-reader.ts';

/** When a start is surely over, and keeping its compiled code is in nobody's way. */
const KEEP_COMPILED_AFTER_MS = 20_000;

/** Message a role process sends its supervisor over IPC once it serves. */
export interface ReadyMessage {
  ready: true;
}

/** Tells a supervisor, if there is one, that this process serves now. */
export function announceReady(): void {
  setTimeout(flushCompileCache, KEEP_COMPILED_AFTER_MS).unref();
  process.send?.({ ready: true } satisfies ReadyMessage);
}

/**
 * Ends the process in order on SIGTERM, SIGINT or the loss of its supervisor; repeated signals change nothing.
 *
 * @param stop - closes everything this process opened, in order
 * @param limitMs - after this the process exits with code 1 whatever `stop` still does
 * @returns a function that starts the same ordered stop from within
 */
export function stopInOrder(logger: Logger, stop: () => Promise<void>, limitMs = 10_000): (reason: string) => void {
  let stopping = false;
  const begin = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), limitMs).unref();
    stop().then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        logger.error({ err: error }, 'could not stop in order');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => begin(signal));
  if (process.channel) process.on('disconnect', () => begin('supervisor gone'));
  return begin;
}

/** Ends the process with code 1 and one message: that of a wrong start alone, of anything else with its stack. */
export function refuseToStart(error: unknown): never {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `The port is in use: ${message}`;
  // What the system or Node refuses is as wrong as settings are, and says so itself.
  const isWrongStart = error instanceof ConfigError || /^(E[A-Z]+$|ERR_PARSE_ARGS)/.test(code ?? '');
  return isWrongStart && message !== '' ? message : (stack ?? message);
}
