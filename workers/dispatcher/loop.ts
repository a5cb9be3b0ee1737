import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../src/process/logger.ts';
import { throttledErrorLog } from '../throttled-error-log.ts';

const MAX_BACKOFF_MS = 2_000;
const FIRST_BACKOFF_MS = 100;

export interface LoopOptions {
  name: string;
  /** Longest pause between two rounds, in ms. */
  everyMs: number;
  /** One round; returns true when there is more to do at once. */
  round: () => Promise<boolean>;
  /** Told of every round that failed. */
  onFailure?: () => void;
  logger: Logger;
}

/** A round that repeats for ever: at once while there is work, otherwise when woken or after a pause. */
export interface Loop {
  wake(): void;
  /** Ends after the round that is running. */
  stop(): Promise<void>;
}

/**
 * Starts a loop. A failing round is repeated with growing pauses up to 2 s; what fails is logged once per half
 * minute, because a server that is away fails every round.
 */
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
        const more = await options.round();
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
