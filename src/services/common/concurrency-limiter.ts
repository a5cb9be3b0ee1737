import { DomainError } from '../../domain/common/errors.ts';
import { FairQueue } from './fair-queue.ts';

export interface ConcurrencyLimits {
  concurrency: number;
  /** Maximum running tasks per key, so that other keys find a free slot. */
  concurrencyPerKey: number;
  maxQueued: number;
  maxQueuedPerKey: number;
  /** A task that waited longer is rejected, as its client has given up. */
  queueTimeoutMs?: number;
}

interface QueuedTask {
  sinceMs: number;
  start(): void;
}

/**
 * Runs a bounded number of tasks at once and serves waiting ones round-robin by key: a key with thousands of tasks
 * neither fills all slots nor delays another key's single task.
 */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits;
  readonly #rejection: (reason: string) => Error;
  readonly #queue = new FairQueue<QueuedTask>();
  readonly #runningByKey = new Map<number | string, number>();
  #running = 0;

  /** @param rejection - creates the error of a rejected task */
  constructor(limits: ConcurrencyLimits, rejection = (reason: string) => new Error(reason)) {
    this.#limits = limits;
    this.#rejection = rejection;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** @throws `rejection` when too many tasks wait or this one waited too long; the task has not been started then */
  async run<T>(key: number | string, task: () => Promise<T>): Promise<T> {
    if (this.#hasSlot(key)) this.#count(key, 1);
    else await this.#waitForSlot(key);
    try {
      return await task();
    } finally {
      this.#release(key);
    }
  }

  async #waitForSlot(key: number | string): Promise<void> {
    const { maxQueued, maxQueuedPerKey, queueTimeoutMs = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.#queue.length >= maxQueued || this.#queue.lengthOf(key) >= maxQueuedPerKey) {
      throw this.#rejection('too many tasks wait already');
    }
    const sinceMs = performance.now();
    await new Promise<void>((start) => this.#queue.push(key, { sinceMs, start }));
    if (performance.now() - sinceMs <= queueTimeoutMs) return;
    this.#release(key);
    throw this.#rejection('the task waited too long');
  }

  /** Reassigns free slots immediately, so that no new task overtakes waiting ones. */
  #release(key: number | string): void {
    this.#count(key, -1);
    for (;;) {
      const next = this.#queue.next((candidate) => this.#hasSlot(candidate));
      if (!next) return;
      this.#count(next.key, 1);
      next.item.start();
    }
  }

  #hasSlot(key: number | string): boolean {
    const { concurrency, concurrencyPerKey } = this.#limits;
    return this.#running < concurrency && (this.#runningByKey.get(key) ?? 0) < concurrencyPerKey;
  }

  #count(key: number | string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningByKey.get(key) ?? 0) + change;
    if (running === 0) this.#runningByKey.delete(key);
    else this.#runningByKey.set(key, running);
  }
}

/** The error of a rejected task, with a time to wait. @param what - such as `Too many logins at once` */
export function serviceBusy(what: string): DomainError {
  return new DomainError('ServiceUnavailable', `${what}; try again shortly`, { retryAfterSeconds: 1 });
}
