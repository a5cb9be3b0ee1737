import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../src/process/logger.ts';
import { throttledErrorLog } from '../throttled-error-log.ts';

const MAX_BACKOFF_MS = 2_000;
const FIRST_BACKOFF_MS = 100;

export interface LoopOptions {
  name: string;
  everyMs: number;
  poll: () => Promise<boolean>;
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
  const report = throttledErrorLog(options.logger, { loop: options.name });
  const run = async (): Promise<void> => {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!stopping.signal.aborted) {
      woken = false;
      try {
        const more = await options.poll();
        backoffMs = FIRST_BACKOFF_MS;
        report(null);
        if (!more) await rest(options.everyMs);
      } catch (error) {
        report(error);
        options.onFailure?.();
        woken = false;
        await rest(Math.max(backoffMs, options.everyMs));
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
