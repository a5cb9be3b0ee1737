import { LRUCache } from 'lru-cache';

interface BucketLimits {
  burst: number;
  perSecond: number;
  maxKeys: number;
}

interface Bucket {
  level: number;
  atMs: number;
}

/** Token buckets by key, local to this process and bounded in number: a dropped key starts with a full bucket again. */
export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(limits: BucketLimits) {
    this.#limits = limits;
    // `max` would allocate space for all of them at once.
    this.#buckets = new LRUCache({ maxSize: limits.maxKeys, sizeCalculation: () => 1 });
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes `cost` tokens from the key's bucket. @returns 0; or, taking none, the seconds until it holds enough */
  take(key: string, cost: number, nowMs: number): number {
    const bucket = this.#fill(key, nowMs);
    const waitSeconds = this.#secondsUntil(cost, bucket);
    if (waitSeconds === 0) bucket.level -= cost;
    this.#buckets.set(key, bucket);
    return waitSeconds;
  }

  /** Seconds until the key's bucket holds `cost` tokens; takes none. */
  wait(key: string, cost: number, nowMs: number): number {
    return this.#secondsUntil(cost, this.#fill(key, nowMs));
  }

  #fill(key: string, nowMs: number): Bucket {
    const { burst, perSecond } = this.#limits;
    const { level, atMs } = this.#buckets.peek(key) ?? { level: burst, atMs: nowMs };
    // Handles a clock that was set back.
    const passedMs = Math.max(0, nowMs - atMs);
    return { level: Math.min(burst, level + (passedMs / 1000) * perSecond), atMs: Math.max(nowMs, atMs) };
  }

  #secondsUntil(cost: number, { level }: Bucket): number {
    return Math.max(0, cost - level) / this.#limits.perSecond;
  }
}
