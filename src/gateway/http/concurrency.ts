import { BoundedQueue } from '../../services/common/bounded-queue.ts';
import { HttpError } from './response.ts';

/**
 * Runs a bounded number of tasks at once and queues the others, so that a wave of agents neither takes every database
 * connection nor times out on the pool. Rejects with 503 if too many wait.
 */
export class ConcurrencyLimiter extends BoundedQueue {
  constructor(concurrency: number, maxWaiting: number) {
    super({ concurrency, maxWaiting, refusal: () => new HttpError(503, 'ServiceUnavailable', 'Too many at once') });
  }
}

/** Runs tasks with the same key one after another. */
export class SerialQueues {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(key);
    const current = previous ? previous.then(task, task) : task();
    this.#tails.set(key, current);
    try {
      return await current;
    } finally {
      if (this.#tails.get(key) === current) this.#tails.delete(key);
    }
  }
}
