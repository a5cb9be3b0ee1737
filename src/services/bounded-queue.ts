import { DomainError } from '../domain/errors.ts';

/**
 * Runs costly work a few at a time and refuses what would wait too long, so that a storm costs bounded memory and
 * leaves processor time to everything else.
 */
export class BoundedQueue {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #refusal: string;
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(limits: { concurrency: number; maxWaiting: number; refusal?: string }) {
    this.#concurrency = limits.concurrency;
    this.#maxWaiting = limits.maxWaiting;
    this.#refusal = limits.refusal ?? 'Too many logins at once';
  }

  /**
   * Runs `work` when a place is free, in order of arrival.
   *
   * @throws {DomainError} ServiceUnavailable with a time to wait when the queue is full
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) await this.#wait();
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  #wait(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new DomainError('ServiceUnavailable', `${this.#refusal}; try again shortly`, {
        retryAfterSeconds: 1,
      });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
