export type Key = number | string;

interface Entry<T> {
  item: T;
  next: Entry<T> | null;
}

interface Waiting<T> {
  first: Entry<T>;
  last: Entry<T>;
  length: number;
}

export interface QueueLimits {
  /** Default: no limit. */
  maxQueued?: number;
  maxQueuedPerKey?: number;
}

/**
 * A bounded queue whose keys take turns: a key with thousands of items delays no other key. First in, first out per
 * key. All operations take constant time.
 */
export class FairQueue<T> {
  readonly #maxQueued: number;
  readonly #maxQueuedPerKey: number;
  readonly #byKey = new Map<Key, Waiting<T>>();
  /** Keys with items that are not paused, the next one first. */
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
    const own = this.#byKey.get(key);
    if (this.#length >= this.#maxQueued || (own?.length ?? 0) >= this.#maxQueuedPerKey) return false;
    const entry = { item, next: null };
    if (own) {
      own.last.next = entry;
      own.last = entry;
      own.length += 1;
    } else {
      this.#byKey.set(key, { first: entry, last: entry, length: 1 });
      if (!this.#paused.has(key)) this.#turns.add(key);
    }
    this.#length += 1;
    return true;
  }

  /** Takes the oldest item of the next key, which is served last afterwards. */
  take(): { key: Key; item: T } | undefined {
    for (const key of this.#turns) {
      const own = this.#byKey.get(key)!;
      const { item, next } = own.first;
      this.#turns.delete(key);
      this.#length -= 1;
      if (next === null) this.#byKey.delete(key);
      else {
        own.first = next;
        own.length -= 1;
        this.#turns.add(key);
      }
      return { key, item };
    }
    return undefined;
  }

  /** Passes over the key until {@link resume}; its items keep waiting. */
  pause(key: Key): void {
    this.#paused.add(key);
    this.#turns.delete(key);
  }

  resume(key: Key): void {
    this.#paused.delete(key);
    if (this.#byKey.has(key)) this.#turns.add(key);
  }
}
