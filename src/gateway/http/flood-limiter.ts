export interface FloodLimits {
  /** What one key may spend at once. */
  burst: number;
  /** What one key gets back per second. */
  perSecond: number;
  /** Keys remembered at most; beyond it the longest idle are forgotten first. */
  maxKeys: number;
}

/** A token bucket per key, in this process alone: it guards against a runaway sender, it is no account of usage. */
export class FloodLimiter {
  readonly #limits: FloodLimits;
  readonly #buckets = new Map<string, { level: number; atMs: number }>();

  constructor(limits: FloodLimits) {
    this.#limits = limits;
  }

  /** Takes `cost` from the key's bucket; false, and nothing taken, when it holds less. */
  take(key: string, cost: number, nowMs: number): boolean {
    const { burst, perSecond } = this.#limits;
    const bucket = this.#buckets.get(key) ?? { level: burst, atMs: nowMs };
    const level = Math.min(burst, bucket.level + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond);
    const enough = level >= cost;
    // Deleting first keeps the map in order of last use.
    this.#buckets.delete(key);
    this.#buckets.set(key, { level: enough ? level - cost : level, atMs: Math.max(nowMs, bucket.atMs) });
    if (this.#buckets.size > this.#limits.maxKeys) this.#buckets.delete(this.#buckets.keys().next().value!);
    return enough;
  }
}
