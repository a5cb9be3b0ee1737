/** A body that takes more is large. */
export const LARGE_BYTES = 64 * 1024;
/** Large bodies are refused while a tenth is left for the many that tell little. */
const LARGE_SHARE = 0.9;
/** What a piece takes beside its bytes, as measured: a body that comes byte by byte takes hundreds of times its length. */
const PIECE_BYTES = 512;

/** A part of a budget that all bodies opened under its name may fill together. */
export interface BudgetPart {
  name: string;
  /** Of the whole, up to 1. */
  share: number;
}

/** What one body takes of a budget. Refused bytes count as well, until the release. */
export interface HeldBody {
  /** Whether so many more bytes would be taken now. */
  hasRoom(bytes: number): boolean;
  /** Counts a piece that has arrived. @returns false beyond a bound */
  takePiece(bytes: number): boolean;
  /** Counts memory that is made of the body. @returns false beyond a bound */
  take(bytes: number): boolean;
  /** Gives everything back; nothing counts from then on. */
  release(): void;
}

/** Memory that the bodies of all requests under way, and what is made of them, may take together. */
export class BodyBudget {
  readonly #limitBytes: number;
  readonly #usedOf = new Map<string, number>();
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Taken just now. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** @param parts - those it counts against beside the whole */
  open(parts: readonly BudgetPart[] = []): HeldBody {
    let size = 0;
    let isOpen = true;
    const hasRoom = (bytes: number): boolean => this.#hasRoom(parts, bytes, size + bytes > LARGE_BYTES);
    const count = (bytes: number): void => {
      size += bytes;
      this.#count(parts, bytes);
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
    return { hasRoom, take, takePiece: (bytes) => take(bytes + PIECE_BYTES), release };
  }

  #hasRoom(parts: readonly BudgetPart[], bytes: number, isLarge: boolean): boolean {
    const limitBytes = this.#limitBytes * (isLarge ? LARGE_SHARE : 1);
    if (this.#usedBytes + bytes > limitBytes) return false;
    return parts.every(({ name, share }) => (this.#usedOf.get(name) ?? 0) + bytes <= limitBytes * share);
  }

  #count(parts: readonly BudgetPart[], bytes: number): void {
    this.#usedBytes += bytes;
    for (const { name } of parts) {
      const used = (this.#usedOf.get(name) ?? 0) + bytes;
      if (used === 0) this.#usedOf.delete(name);
      else this.#usedOf.set(name, used);
    }
  }
}
