import { Refusal } from './refusal.ts';

/**
 * Lets a bounded number of tasks run at once and the rest wait in order, so that a wave of agents neither takes every
 * database connection nor times out on the pool.
 */
export class Gate {
  readonly #width: number;
  readonly #maxWaiting: number;
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(width: number, maxWaiting: number) {
    this.#width = width;
    this.#maxWaiting = maxWaiting;
  }

  /** @throws {Refusal} 503 when too many wait already */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#width) {
      if (this.#waiting.length >= this.#maxWaiting) throw new Refusal(503, 'ServiceUnavailable', 'Too many at once');
      // The place is handed over by whoever leaves, so nobody overtakes.
      await new Promise<void>((enter) => this.#waiting.push(enter));
    } else {
      this.#running += 1;
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
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
