import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../src/process/logger.ts';
import { throttledErrorLog } from '../telemetry/throttled-error-log.ts';

const MAX_BACKOFF_MS = 2_000;
const FIRST_BACKOFF_MS = 100;
/** A poll may have been slow only because the database hung. */
const LONGEST_REST_MS = 2_000;

/** Whether more may be left, or after how many milliseconds to call the poll again. */
type Next = boolean | number;

/**
 * @param isWoken - whether `wake` caused it
 * @returns when to call it again, and for how many milliseconds, up to 2 s, not even `wake` should call it
 */
export type Poll = (isWoken?: boolean) => Promise<Next | { next: Next; restMs: number }>;

export interface LoopOptions {
  name: string;
  /** Pause after a poll that returned false; `wake` ends it. */
  everyMs: number;
  /** While polls return false, their pauses double up to this one; `everyMs` if not given. */
  idleMs?: number;
  poll: Poll;
  onFailure?: () => void;
  logger: Logger;
}

export interface Loop {
  /** Polls again within these milliseconds, by default at once; pauses are short again from then on. */
  wake(withinMs?: number): void;
  stop(): Promise<void>;
}

/** Starts a loop. Failed polls are retried with growing pauses up to 2 s and logged at most once per half minute. */
export function startLoop(options: LoopOptions): Loop {
  const { everyMs, idleMs = everyMs } = options;
  const stopping = new AbortController();
  const pause = new Pause();
  let nextPauseMs = everyMs;
  let isWoken = false;
  const rest = async (ms: number): Promise<void> => {
    await delay(Math.min(ms, LONGEST_REST_MS), undefined, { signal: stopping.signal }).catch(() => undefined);
  };
  const report = throttledErrorLog(options.logger, { loop: options.name });
  const run = async (): Promise<void> => {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!stopping.signal.aborted) {
      pause.reset();
      try {
        const wasWoken = isWoken;
        isWoken = false;
        const result = await options.poll(wasWoken);
        const { next, restMs } = typeof result === 'object' ? result : { next: result, restMs: 0 };
        backoffMs = FIRST_BACKOFF_MS;
        report(null);
        if (restMs > 0) await rest(restMs);
        if (next === true) continue;
        const pauseMs = next === false ? nextPauseMs : next;
        nextPauseMs = next === false ? Math.min(nextPauseMs * 2, idleMs) : everyMs;
        await pause.wait(pauseMs);
      } catch (error) {
        report(error);
        options.onFailure?.();
        if (stopping.signal.aborted) return;
        pause.reset();
        await pause.wait(Math.max(backoffMs, everyMs));
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      }
    }
  };
  const running = run();
  return {
    wake(withinMs = 0) {
      nextPauseMs = everyMs;
      isWoken = true;
      pause.limit(withinMs);
    },
    async stop() {
      stopping.abort();
      pause.limit(0);
      await running;
    },
  };
}

/** A pause that can be limited while it lasts or before it starts. */
class Pause {
  #endsAt = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #end: () => void = () => undefined;

  /** Drops the limits of pauses that did not start. */
  reset(): void {
    this.#endsAt = Infinity;
  }

  limit(ms: number): void {
    const endsAt = performance.now() + ms;
    if (endsAt >= this.#endsAt) return;
    this.#endsAt = endsAt;
    clearTimeout(this.#timer);
    if (ms > 0) this.#timer = setTimeout(() => this.#end(), ms);
    else this.#end();
  }

  async wait(ms: number): Promise<void> {
    const leftMs = this.#endsAt - performance.now();
    if (leftMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    clearTimeout(this.#timer);
    this.#endsAt = Math.min(this.#endsAt, performance.now() + ms);
    this.#timer = setTimeout(resolve, Math.min(ms, leftMs));
    await promise;
  }
}
