import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../src/process/logger.ts';
import { throttledErrorLog } from '../throttled-error-log.ts';

const MAX_BACKOFF_MS = 2_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_REST_MS = 2_000;

/** @returns whether more may be left, or after how many milliseconds to call it again */
export type Poll = () => Promise<boolean | number>;

export interface LoopOptions {
  name: string;
  /** Pause after a poll that returned false; `wake` ends it. */
  everyMs: number;
  /** Pause after every poll that `wake` does not end, as a multiple of the time that the poll took, up to 2 s. */
  restShare?: number;
  poll: Poll;
  onFailure?: () => void;
  logger: Logger;
}

export interface Loop {
  wake(): void;
  stop(): Promise<void>;
}

/** Starts a loop. Failed polls are retried with growing pauses up to 2 s and logged at most once per half minute. */
export function startLoop(options: LoopOptions): Loop {
  let pause = new AbortController();
  let woken = false;
  const stopping = new AbortController();
  const rest = async (ms: number): Promise<void> => {
    if (woken || stopping.signal.aborted) return;
    pause = new AbortController();
    await delay(ms, undefined, { signal: pause.signal }).catch(() => undefined);
  };
  const { everyMs, restShare = 0 } = options;
  /** The poll may have been slow only because the database hung. */
  const restAfter = async (startedAt: number): Promise<void> => {
    const ms = Math.min((performance.now() - startedAt) * restShare, LONGEST_REST_MS);
    if (ms > 0) await delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  };
  const report = throttledErrorLog(options.logger, { loop: options.name });
  const run = async (): Promise<void> => {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!stopping.signal.aborted) {
      woken = false;
      const startedAt = performance.now();
      try {
        const more = await options.poll();
        backoffMs = FIRST_BACKOFF_MS;
        report(null);
        await restAfter(startedAt);
        const pauseMs = typeof more === 'number' ? more : more ? 0 : everyMs;
        if (pauseMs > 0) await rest(pauseMs);
      } catch (error) {
        report(error);
        options.onFailure?.();
        woken = false;
        await rest(Math.max(backoffMs, everyMs));
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      }
    }
  };
  const running = run();
  return {
    wake() {
      woken = true;
      pause.abort();
    },
    async stop() {
      stopping.abort();
      pause.abort();
      await running;
    },
  };
}
