import { FairQueue, type Key } from './fair-queue.ts';

interface BatchLimits {
  size: number;
  concurrency: number;
  maxQueued?: number;
  /**
   * How long a call waits for others, unless a batch is full or ends; default 0. While calls come one at a time, it waits
   * only until so long after the start of the last batch.
   */
  gatherMs?: number;
}

interface Call<I, O> {
  item: I;
  resolve(result: O): void;
  reject(error: unknown): void;
}

/** Runs calls in batches: those that arrive while others run form the next one. Waiting calls take turns by key. */
export class Batcher<I, O> {
  readonly #run: (items: I[]) => Promise<ReadonlyArray<O | Error>>;
  readonly #limits: BatchLimits;
  readonly #rejection: () => Error;
  readonly #queue: FairQueue<Call<I, O>>;
  #running = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  #lastSize = 0;
  #gathering: NodeJS.Timeout | undefined;

  /** @param run - returns one result or error per item, in order; if it throws, all calls of the batch fail */
  constructor(
    run: (items: I[]) => Promise<ReadonlyArray<O | Error>>,
    limits: BatchLimits,
    rejection: () => Error = () => new Error('too many calls are waiting'),
  ) {
    this.#run = run;
    this.#limits = limits;
    this.#rejection = rejection;
    this.#queue = new FairQueue(limits);
  }

  /** @throws `rejection` if too many calls wait */
  call(key: Key, item: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      if (!this.#queue.push(key, { item, resolve, reject })) throw this.#rejection();
      const { gatherMs = 0, size, concurrency } = this.#limits;
      const isLone = this.#running === 0 && this.#lastSize <= 1;
      const waitMs = isLone ? this.#startedAt + gatherMs - performance.now() : gatherMs;
      if (waitMs <= 0 || this.#queue.length >= size) this.#runNext();
      else if (this.#running < concurrency) this.#gathering ??= setTimeout(() => this.#runNext(), waitMs);
    });
  }

  #runNext(): void {
    if (this.#running >= this.#limits.concurrency || this.#queue.length === 0) return;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#running += 1;
    this.#startedAt = performance.now();
    const calls: Call<I, O>[] = [];
    while (calls.length < this.#limits.size && this.#queue.length > 0) calls.push(this.#queue.take()!.item);
    this.#lastSize = calls.length;
    void this.#execute(calls).finally(() => {
      this.#running -= 1;
      this.#runNext();
    });
  }

  async #execute(calls: ReadonlyArray<Call<I, O>>): Promise<void> {
    try {
      const results = await this.#run(calls.map((call) => call.item));
      for (const [i, call] of calls.entries()) {
        const result = results[i] as O | Error;
        if (result instanceof Error) call.reject(result);
        else call.resolve(result);
      }
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }
}
