export interface BucketLimits {
  burst: number;
  perSecond: number;
  /** Maximum number of buckets; the least recently used are dropped first. */
  maxKeys: number;
}

/** Token buckets by key, local to this process and bounded in number: a dropped key starts with a full bucket again. */
export class TokenBuckets {
  readonly #limits: BucketLimits;
  readonly #buckets = new Map<string, { level: number; atMs: number }>();

  constructor(limits: BucketLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes `cost` tokens from the key's bucket. @returns 0; or, taking none, the seconds until it holds enough */
  take(key: string, cost: number, nowMs: number): number {
    const { level, atMs } = this.#fill(key, nowMs);
    const enough = level >= cost;
    // Deleting first keeps the map in order of last use.
    this.#buckets.delete(key);
    this.#buckets.set(key, { level: enough ? level - cost : level, atMs });
    if (this.#buckets.size > this.#limits.maxKeys) this.#buckets.delete(this.#buckets.keys().next().value!);
    return enough ? 0 : (cost - level) / this.#limits.perSecond;
  }

  /** What {@link take} would return, without taking tokens. */
  wait(key: string, cost: number, nowMs: number): number {
    return Math.max(0, (cost - this.#fill(key, nowMs).level) / this.#limits.perSecond);
  }

  #fill(key: string, nowMs: number): { level: number; atMs: number } {
    const { burst, perSecond } = this.#limits;
    const { level, atMs } = this.#buckets.get(key) ?? { level: burst, atMs: nowMs };
    // Handles a clock that was set back.
    const passedMs = Math.max(0, nowMs - atMs);
    return { level: Math.min(burst, level + (passedMs / 1000) * perSecond), atMs: Math.max(nowMs, atMs) };
  }
}

const NETWORK_GROUPS = 4;

/** The rate-limit key of a client: its IPv4 address, or the /64 network of its IPv6 address. */
export function rateLimitKey(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return groups.slice(0, NETWORK_GROUPS).join(':');
}
