import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from './logger.ts';
import { ConfigError } from './config.ts';

/** By then the start is over, and what follows it delays nothing. */
const STARTED_MS = 20_000;
/** Of the event loop's time. */
const IDLE_SHARE = 0.05;

interface ReadyMessage {
  ready: true;
}

/** Sent by the supervisor when all that a process needs is there. */
export interface StartMessage {
  start: true;
}

/** `npm start` starts a process ahead of the servers that it needs, so that its code loads meanwhile: waits for them. */
export async function untilNeeded({ embedded }: { embedded: boolean }): Promise<void> {
  if (!embedded || !process.channel) return;
  // The supervisor calls a function in some of them before.
  for (let isNeeded = false; !isNeeded; ) {
    const [message] = (await once(process, 'message')) as [object];
    isNeeded = 'start' in message;
  }
}

/** Notifies the supervisor, if there is one, that this process serves now. */
export function notifyReady(): void {
  tidyAfterStart();
  process.send?.({ ready: true } satisfies ReadyMessage);
}

/** Writes the compile cache after the start, and frees the memory that only the start needed. */
export function tidyAfterStart(): void {
  setTimeout(flushCompileCache, STARTED_MS).unref();
  collectGarbageWhenIdle();
}

/**
 * Once: V8 would keep the memory for minutes or hours. Not under load, because the collection also shrinks the young
 * generation, and those of the next minutes would cost a quarter more.
 */
function collectGarbageWhenIdle(): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > IDLE_SHARE) return;
    clearInterval(timer);
    collectGarbage();
  }, STARTED_MS).unref();
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}

/** Calls `stop` once on SIGTERM, SIGINT or loss of the supervisor and exits; with 1 if too slow. Returns a trigger. */
export function shutDownOnSignal(logger: Logger, stop: () => Promise<void>, limitMs = 10_000) {
  let stopping = false;
  const start = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ reason }, 'shutting down');
    setTimeout(() => process.exit(1), limitMs).unref();
    stop().then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        logger.error({ err: error }, 'graceful shutdown failed');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => start(signal));
  if (process.channel) process.on('disconnect', () => start('supervisor disconnected'));
  return start;
}

/** Exits with code 1 and the error's message; with its stack unless the start itself was wrong. */
export function exitWithError(error: unknown): never {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `The port is in use: ${message}`;
  // Errors of the system and of Node's argument parser explain themselves.
  const isStartError = error instanceof ConfigError || /^(E[A-Z]+$|ERR_PARSE_ARGS)/.test(code ?? '');
  return isStartError && message !== '' ? message : (stack ?? message);
}
