export type Key = number | string;

export interface QueueLimits {
  maxQueued?: number;
  maxQueuedPerKey?: number;
}

/** A bounded queue whose keys take turns: a key with thousands of items delays no other. First in, first out per key. */
export class FairQueue<T> {
  readonly #maxQueued: number;
  readonly #maxQueuedPerKey: number;
  readonly #items = new Map<Key, T[]>();
  readonly #turns = new Set<Key>();
  readonly #paused = new Set<Key>();
  #length = 0;

  constructor({ maxQueued = Number.POSITIVE_INFINITY, maxQueuedPerKey = maxQueued }: QueueLimits = {}) {
    this.#maxQueued = maxQueued;
    this.#maxQueuedPerKey = maxQueuedPerKey;
  }

  get length(): number {
    return this.#length;
  }

  /** @returns false, adding nothing, when the queue or the key's part of it is full */
  push(key: Key, item: T): boolean {
    const own = this.#items.get(key) ?? [];
    if (this.#length >= this.#maxQueued || own.length >= this.#maxQueuedPerKey) return false;
    own.push(item);
    this.#items.set(key, own);
    if (!this.#paused.has(key)) this.#turns.add(key);
    this.#length += 1;
    return true;
  }

  /** The next item of the key whose turn it is; undefined when all keys are empty or paused. */
  take(): { key: Key; item: T } | undefined {
    const [key] = this.#turns;
    if (key === undefined) return undefined;
    const own = this.#items.get(key)!;
    const item = own.shift()!;
    this.#length -= 1;
    this.#turns.delete(key);
    if (own.length > 0) this.#turns.add(key);
    else this.#items.delete(key);
    return { key, item };
  }

  /** Passes over the key until {@link resume}; its items keep waiting. */
  pause(key: Key): void {
    this.#paused.add(key);
    this.#turns.delete(key);
  }

  resume(key: Key): void {
    this.#paused.delete(key);
    if (this.#items.has(key)) this.#turns.add(key);
  }
}
