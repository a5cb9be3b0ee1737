import { FairQueue } from '../../services/common/fair-queue.ts';
import { Refusal } from './refusal.ts';

export interface BatcherLimits {
  /** Calls carried out together at most. */
  size: number;
  /** Batches under way at once. */
  running: number;
  /** Calls waiting at most. */
  waiting: number;
  /** How long a call waits for company while nothing is under way; 0: not at all. */
  gatherMs?: number;
}

/** What became of one call of a batch. */
export type Outcome<O> = { value: O } | { error: unknown };

interface Call<I, O> {
  item: I;
  resolve(result: O): void;
  reject(error: unknown): void;
}

/**
 * Carries calls out together: those that come within a moment, or while others are under way, form the next batch. So
 * a wave of agents costs few statements and commits, and a single agent hardly any time.
 */
export class Batcher<I, O> {
  readonly #run: (items: I[]) => Promise<Outcome<O>[]>;
  readonly #limits: BatcherLimits;
  readonly #turnOf: (item: I) => number;
  readonly #waiting = new FairQueue<Call<I, O>>();
  #running = 0;
  #gathering = false;

  /**
   * @param run - answers items in their order, each by itself; when it throws, all have failed
   * @param turnOf - whose an item is: those that wait take turns by it; absent, the first come go first
   */
  constructor(
    run: (items: I[]) => Promise<Outcome<O>[]>,
    limits: BatcherLimits,
    turnOf: (item: I) => number = () => 0,
  ) {
    this.#run = run;
    this.#limits = limits;
    this.#turnOf = turnOf;
  }

  /** @throws {Refusal} 503 when too many wait already */
  call(item: I): Promise<O> {
    if (this.#waiting.length >= this.#limits.waiting) {
      return Promise.reject(new Refusal(503, 'ServiceUnavailable', 'Too many at once'));
    }
    return new Promise<O>((resolve, reject) => {
      this.#waiting.push(this.#turnOf(item), { item, resolve, reject });
      this.#gather();
    });
  }

  #gather(): void {
    const { gatherMs = 0, size } = this.#limits;
    if (gatherMs === 0 || this.#waiting.length >= size) {
      this.#next();
      return;
    }
    if (this.#gathering || this.#running >= this.#limits.running) return;
    this.#gathering = true;
    setTimeout(() => {
      this.#gathering = false;
      this.#next();
    }, gatherMs);
  }

  #next(): void {
    if (this.#running >= this.#limits.running || this.#waiting.length === 0) return;
    this.#running += 1;
    const calls: Call<I, O>[] = [];
    while (calls.length < this.#limits.size && this.#waiting.length > 0) calls.push(this.#waiting.take()!.item);
    void this.#carryOut(calls).finally(() => {
      this.#running -= 1;
      this.#next();
    });
  }

  async #carryOut(calls: ReadonlyArray<Call<I, O>>): Promise<void> {
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
