import { ConcurrencyLimiter } from '../../services/common/concurrency-limiter.ts';
import { HttpError } from './response.ts';

/**
 * Runs a bounded number of tasks at once and queues the others, so that a wave of agents neither takes every database
 * connection nor times out on the pool. Rejects with 503 if too many wait.
 */
export class TaskLimiter {
  readonly #limiter: ConcurrencyLimiter;

  constructor(concurrency: number, maxQueued: number) {
    const limits = { concurrency, concurrencyPerKey: concurrency, maxQueued, maxQueuedPerKey: maxQueued };
    this.#limiter = new ConcurrencyLimiter(limits, () => new HttpError(503, 'ServiceUnavailable', 'Too many at once'));
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#limiter.run('', task);
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
