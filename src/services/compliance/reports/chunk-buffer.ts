/** Bytes are collected to pieces of about this size. */
const PIECE_BYTES = 128 * 1024;

/** Collects the bytes of a file and hands them on in pieces, all in one buffer: a file of any size needs no more memory. */
export class ChunkBuffer {
  readonly #append: (piece: Buffer) => Promise<void>;
  #collecting = Buffer.allocUnsafe(2 * PIECE_BYTES);
  #length = 0;

  /** @param append - keeps a piece; its bytes are overwritten once it has */
  constructor(append: (piece: Buffer) => Promise<void>) {
    this.#append = append;
  }

  get isFull(): boolean {
    return this.#length >= PIECE_BYTES;
  }

  /** Makes room for so many bytes in all, to be followed by {@link add}. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#collecting.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#collecting.length));
    larger.set(this.#collecting.subarray(0, this.#length));
    this.#collecting = larger;
  }

  /** Adds bytes that room was reserved for. */
  add(bytes: Uint8Array): void {
    this.#collecting.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    this.reserve(bytes.length);
    this.add(bytes);
  }

  /** Hands on what has been collected. */
  async flush(): Promise<void> {
    await this.#append(this.#collecting.subarray(0, this.#length));
    this.#length = 0;
  }
}
