import { BoundedQueue } from '../../services/common/bounded-queue.ts';
import { Refusal } from './refusal.ts';

/**
 * Lets a bounded number of tasks run at once and the rest wait in order, so that a wave of agents neither takes every
 * database connection nor times out on the pool. Refuses with 503 when too many wait already.
 */
export class Gate extends BoundedQueue {
  constructor(width: number, maxWaiting: number) {
    const refusal = () => new Refusal(503, 'ServiceUnavailable', 'Too many at once');
    super({ concurrency: width, maxWaiting, refusal });
  }
}

/** Runs tasks of one key one after another, in the order they came. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = before ? before.then(task, task) : task();
    this.#tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }
}
