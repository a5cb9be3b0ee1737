import { FairQueue } from './fair-queue.ts';

export interface FairGateLimits {
  /** Tasks that run at once. */
  width: number;
  /** Of these at most so many of one key, so that another key finds a place at once. */
  share: number;
  /** Tasks that wait. */
  waiting: number;
  /** Of these at most so many of one key. */
  waitingPerKey: number;
  /** A task that waited longer is not begun any more: whoever asked has given up. */
  patienceMs?: number;
}

/** Why a task was not run. */
export class GateRefusal extends Error {
  override readonly name = 'GateRefusal';
}

interface Waiting {
  sinceMs: number;
  enter(): void;
}

/**
 * Lets a bounded number of tasks run at once; the others wait, and the keys they belong to take turns. So a key with
 * thousands of tasks neither fills all places nor stands in front of another's single one.
 */
export class FairGate {
  readonly #limits: FairGateLimits;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #runningOf = new Map<number | string, number>();
  #running = 0;

  constructor(limits: FairGateLimits) {
    this.#limits = limits;
  }

  /** Tasks that wait just now. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** @throws {GateRefusal} when too many wait already, or it waited too long itself; the task was not begun */
  async run<T>(key: number | string, task: () => Promise<T>): Promise<T> {
    if (this.#mayEnter(key)) this.#count(key, 1);
    else await this.#wait(key);
    try {
      return await task();
    } finally {
      this.#count(key, -1);
      this.#admit();
    }
  }

  async #wait(key: number | string): Promise<void> {
    const { waiting, waitingPerKey, patienceMs = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.#waiting.length >= waiting || this.#waiting.lengthOf(key) >= waitingPerKey) {
      throw new GateRefusal('too many tasks wait already');
    }
    const sinceMs = performance.now();
    await new Promise<void>((enter) => this.#waiting.push(key, { sinceMs, enter }));
    if (performance.now() - sinceMs <= patienceMs) return;
    this.#count(key, -1);
    this.#admit();
    throw new GateRefusal('the task waited too long');
  }

  /** The place is taken for whoever enters before anybody else can. */
  #admit(): void {
    for (;;) {
      const next = this.#waiting.take((key) => this.#mayEnter(key));
      if (!next) return;
      this.#count(next.key, 1);
      next.item.enter();
    }
  }

  #mayEnter(key: number | string): boolean {
    return this.#running < this.#limits.width && (this.#runningOf.get(key) ?? 0) < this.#limits.share;
  }

  #count(key: number | string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningOf.get(key) ?? 0) + change;
    if (running === 0) this.#runningOf.delete(key);
    else this.#runningOf.set(key, running);
  }
}
