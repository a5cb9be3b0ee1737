interface Line<T> {
  items: T[];
  /** Index of the first item that was not taken. */
  head: number;
}

const COMPACT_AFTER = 1024;

/** A queue whose keys take turns: whoever has thousands waiting holds up nobody else. First in, first out per key. */
export class FairQueue<T> {
  /** In the order of their turns. */
  readonly #lines = new Map<number | string, Line<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** How many of a key wait. */
  lengthOf(key: number | string): number {
    const line = this.#lines.get(key);
    return line ? line.items.length - line.head : 0;
  }

  push(key: number | string, item: T): void {
    const line = this.#lines.get(key);
    if (line) line.items.push(item);
    else this.#lines.set(key, { items: [item], head: 0 });
    this.#length += 1;
  }

  /** Takes the next item of the first key, in the order of turns, that `mayGo`; its key is last from then on. */
  take(mayGo: (key: number | string) => boolean = () => true): { key: number | string; item: T } | undefined {
    for (const [key, line] of this.#lines) {
      if (!mayGo(key)) continue;
      const item = line.items[line.head]!;
      line.head += 1;
      this.#length -= 1;
      this.#lines.delete(key);
      if (line.head < line.items.length) this.#lines.set(key, compact(line));
      return { key, item };
    }
    return undefined;
  }
}

/** What was taken is let go of now and then, not by moving the rest each time. */
function compact<T>(line: Line<T>): Line<T> {
  if (line.head < COMPACT_AFTER || line.head * 2 < line.items.length) return line;
  return { items: line.items.slice(line.head), head: 0 };
}
