/**
 * Runs costly work a few at a time and refuses what would wait too long, so that a storm costs bounded memory and
 * leaves processor time to everything else.
 */
export class BoundedQueue {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #refusal: () => Error;
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  /** @param limits.refusal - what `run` throws when the queue is full */
  constructor(limits: { concurrency: number; maxWaiting: number; refusal: () => Error }) {
    this.#concurrency = limits.concurrency;
    this.#maxWaiting = limits.maxWaiting;
    this.#refusal = limits.refusal;
  }

  /** Runs `work` when a place is free, in order of arrival. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) await this.#wait();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // The place is handed over, so that nobody overtakes.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) throw this.#refusal();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
