export const LARGE_BYTES = 64 * 1024;
/** The last tenth is reserved for small bodies. */
const LARGE_SHARE = 0.9;
/** Measured overhead of a chunk: a body that arrives byte by byte takes hundreds of times its length. */
const CHUNK_OVERHEAD_BYTES = 512;

/** A share of the limit, as a fraction, that all bodies reserved under its name have together. */
export interface RequestMemoryShare {
  name: string;
  share: number;
}

/** Memory of one request's body. Rejected bytes count as well, until it is released. */
export interface RequestMemory {
  hasRoom(bytes: number): boolean;
  /** Counts a received chunk. @returns false when the limit is exceeded */
  addChunk(bytes: number): boolean;
  /** Counts memory derived from the body. @returns false when the limit is exceeded */
  add(bytes: number): boolean;
  release(): void;
}

/** Limits the memory that the bodies of all requests in flight, and what is parsed from them, take together. */
export class RequestMemoryLimit {
  readonly #limitBytes: number;
  readonly #usedByShare = new Map<string, number>();
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Starts at 0 bytes, counted against the limit and each share. The caller releases it. */
  reserve(shares: readonly RequestMemoryShare[] = []): RequestMemory {
    let size = 0;
    let isOpen = true;
    const hasRoom = (bytes: number): boolean => this.#hasRoom(shares, bytes, size + bytes > LARGE_BYTES);
    const count = (bytes: number): void => {
      size += bytes;
      this.#count(shares, bytes);
    };
    const take = (bytes: number): boolean => {
      if (!isOpen) return false;
      count(bytes);
      return hasRoom(0);
    };
    const release = (): void => {
      isOpen = false;
      count(-size);
    };
    return { hasRoom, add: take, addChunk: (bytes) => take(bytes + CHUNK_OVERHEAD_BYTES), release };
  }

  #hasRoom(shares: readonly RequestMemoryShare[], bytes: number, isLarge: boolean): boolean {
    const limitBytes = this.#limitBytes * (isLarge ? LARGE_SHARE : 1);
    if (this.#usedBytes + bytes > limitBytes) return false;
    return shares.every(({ name, share }) => (this.#usedByShare.get(name) ?? 0) + bytes <= limitBytes * share);
  }

  #count(shares: readonly RequestMemoryShare[], bytes: number): void {
    this.#usedBytes += bytes;
    for (const { name } of shares) {
      const used = (this.#usedByShare.get(name) ?? 0) + bytes;
      if (used === 0) this.#usedByShare.delete(name);
      else this.#usedByShare.set(name, used);
    }
  }
}
