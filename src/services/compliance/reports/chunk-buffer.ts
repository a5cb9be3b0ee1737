const CHUNK_BYTES = 128 * 1024;

/** Writes a file in chunks from one reused buffer, so that memory does not grow with the file. */
export class ChunkBuffer {
  readonly #append: (chunk: Buffer) => Promise<void>;
  #collecting = Buffer.allocUnsafe(2 * CHUNK_BYTES);
  #length = 0;

  constructor(append: (chunk: Buffer) => Promise<void>) {
    this.#append = append;
  }

  get isFull(): boolean {
    return this.#length >= CHUNK_BYTES;
  }

  /** Makes room for `bytes` more, which {@link add} does not. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#collecting.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#collecting.length));
    larger.set(this.#collecting.subarray(0, this.#length));
    this.#collecting = larger;
  }

  /** The caller has reserved the room. */
  add(bytes: Uint8Array): void {
    this.#collecting.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    this.reserve(bytes.length);
    this.add(bytes);
  }

  /** Writes what is buffered as one chunk. The callback must not keep it: the buffer is reused. */
  async flush(): Promise<void> {
    await this.#append(this.#collecting.subarray(0, this.#length));
    this.#length = 0;
  }
}
