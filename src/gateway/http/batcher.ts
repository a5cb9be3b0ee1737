import { FairQueue } from '../../services/common/fair-queue.ts';
import { HttpError } from './response.ts';

export interface BatcherLimits {
  /** Maximum calls per batch. */
  size: number;
  concurrency: number;
  maxWaiting: number;
  /** Waiting time of a batch's first call for others while no batch runs; default 0. */
  gatherMs?: number;
}

export type BatchOutcome<O> = { value: O } | { error: unknown };

interface Call<I, O> {
  item: I;
  resolve(result: O): void;
  reject(error: unknown): void;
}

/**
 * Runs calls in batches: those that arrive within a short time, or while others run, form the next one. A wave of
 * agents then costs few statements and commits, and a single agent hardly waits.
 */
export class Batcher<I, O> {
  readonly #run: (items: I[]) => Promise<BatchOutcome<O>[]>;
  readonly #limits: BatcherLimits;
  readonly #keyOf: (item: I) => number;
  readonly #waiting = new FairQueue<Call<I, O>>();
  #running = 0;
  #gathering = false;

  /**
   * @param run - returns one outcome per item, in order; if it throws, all calls of the batch fail
   * @param keyOf - waiting calls are served round-robin by this key; by default in order of arrival
   */
  constructor(
    run: (items: I[]) => Promise<BatchOutcome<O>[]>,
    limits: BatcherLimits,
    keyOf: (item: I) => number = () => 0,
  ) {
    this.#run = run;
    this.#limits = limits;
    this.#keyOf = keyOf;
  }

  /** @throws {HttpError} 503 if too many calls wait */
  call(item: I): Promise<O> {
    if (this.#waiting.length >= this.#limits.maxWaiting) {
      return Promise.reject(new HttpError(503, 'ServiceUnavailable', 'Too many at once'));
    }
    return new Promise<O>((resolve, reject) => {
      this.#waiting.push(this.#keyOf(item), { item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    const { gatherMs = 0, size } = this.#limits;
    if (gatherMs === 0 || this.#waiting.length >= size) {
      this.#runNext();
      return;
    }
    if (this.#gathering || this.#running >= this.#limits.concurrency) return;
    this.#gathering = true;
    setTimeout(() => {
      this.#gathering = false;
      this.#runNext();
    }, gatherMs);
  }

  #runNext(): void {
    if (this.#running >= this.#limits.concurrency || this.#waiting.length === 0) return;
    this.#running += 1;
    const calls: Call<I, O>[] = [];
    while (calls.length < this.#limits.size && this.#waiting.length > 0) calls.push(this.#waiting.next()!.item);
    void this.#execute(calls).finally(() => {
      this.#running -= 1;
      this.#runNext();
    });
  }

  async #execute(calls: ReadonlyArray<Call<I, O>>): Promise<void> {
    try {
      const results = await this.#run(calls.map((call) => call.item));
      for (const [i, call] of calls.entries()) {
        const outcome = results[i]!;
        if ('error' in outcome) call.reject(outcome.error);
        else call.resolve(outcome.value);
      }
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }
}
