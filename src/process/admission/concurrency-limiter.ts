import { FairQueue, type Key, type QueueLimits } from './fair-queue.ts';

export interface ConcurrencyLimits extends QueueLimits {
  concurrency?: number;
  /** Maximum running tasks per key, so that other keys find a free slot; default: `concurrency`. */
  concurrencyPerKey?: number;
  queueTimeoutMs?: number;
}

interface QueuedTask {
  sinceMs: number;
  start(): void;
}

/** Runs a bounded number of tasks at once; the others wait in a {@link FairQueue}. */
export class ConcurrencyLimiter {
  readonly #concurrency: number;
  readonly #concurrencyPerKey: number;
  readonly #queueTimeoutMs: number;
  readonly #rejection: (reason: string) => Error;
  readonly #queue: FairQueue<QueuedTask>;
  readonly #runningByKey = new Map<Key, number>();
  #running = 0;

  constructor(limits: ConcurrencyLimits, rejection = (reason: string) => new Error(reason)) {
    this.#concurrency = limits.concurrency ?? Number.POSITIVE_INFINITY;
    this.#concurrencyPerKey = limits.concurrencyPerKey ?? this.#concurrency;
    this.#queueTimeoutMs = limits.queueTimeoutMs ?? Number.POSITIVE_INFINITY;
    this.#rejection = rejection;
    this.#queue = new FairQueue(limits);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** @throws `rejection` when too many tasks wait or this one waited too long; the task has not been started then */
  async run<T>(key: Key, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#concurrency && (this.#runningByKey.get(key) ?? 0) < this.#concurrencyPerKey) {
      this.#count(key, 1);
    } else {
      await this.#waitForSlot(key);
    }
    try {
      return await task();
    } finally {
      this.#release(key);
    }
  }

  async #waitForSlot(key: Key): Promise<void> {
    const sinceMs = performance.now();
    await new Promise<void>((start) => {
      if (!this.#queue.push(key, { sinceMs, start })) throw this.#rejection('too many tasks are waiting');
    });
    if (performance.now() - sinceMs <= this.#queueTimeoutMs) return;
    this.#release(key);
    throw this.#rejection('the task waited too long');
  }

  /** Reassigns free slots immediately, so that no new task overtakes waiting ones. */
  #release(key: Key): void {
    this.#count(key, -1);
    while (this.#running < this.#concurrency) {
      const next = this.#queue.take();
      if (!next) return;
      this.#count(next.key, 1);
      next.item.start();
    }
  }

  #count(key: Key, change: 1 | -1): void {
    const before = this.#runningByKey.get(key) ?? 0;
    const running = before + change;
    this.#running += change;
    if (running === 0) this.#runningByKey.delete(key);
    else this.#runningByKey.set(key, running);
    if (running === this.#concurrencyPerKey) this.#queue.pause(key);
    else if (before === this.#concurrencyPerKey) this.#queue.resume(key);
  }
}
