interface KeyItems<T> {
  items: T[];
  /** Index of the first item that was not taken. */
  head: number;
}

const COMPACT_AFTER = 1024;

/** A round-robin queue: a key with thousands of items delays no other key. First in, first out per key. */
export class FairQueue<T> {
  /** In round-robin order. */
  readonly #byKey = new Map<number | string, KeyItems<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  lengthOf(key: number | string): number {
    const own = this.#byKey.get(key);
    return own ? own.items.length - own.head : 0;
  }

  push(key: number | string, item: T): void {
    const own = this.#byKey.get(key);
    if (own) own.items.push(item);
    else this.#byKey.set(key, { items: [item], head: 0 });
    this.#length += 1;
  }

  /** Takes the oldest item of the next key that `accepts` allows; that key is served last afterwards. */
  next(accepts: (key: number | string) => boolean = () => true): { key: number | string; item: T } | undefined {
    for (const [key, own] of this.#byKey) {
      if (!accepts(key)) continue;
      const item = own.items[own.head]!;
      own.head += 1;
      this.#length -= 1;
      this.#byKey.delete(key);
      if (own.head < own.items.length) this.#byKey.set(key, compact(own));
      return { key, item };
    }
    return undefined;
  }
}

/** Drops taken items occasionally: shifting the rest each time would make a long queue quadratic. */
function compact<T>(own: KeyItems<T>): KeyItems<T> {
  if (own.head < COMPACT_AFTER || own.head * 2 < own.items.length) return own;
  return { items: own.items.slice(own.head), head: 0 };
}
