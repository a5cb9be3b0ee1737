/** Rule texts are truncated to this many UTF-16 units. */
const MAX_CHARS = 20_000;

/** Collects the text of an element and its descendants on one line. */
export class Capture {
  readonly depth: number;
  readonly #store: (text: string) => void;
  readonly #pieces: string[] = [];
  #room = MAX_CHARS * 4;

  /** @param store - called with the text when the element ends */
  constructor(depth: number, store: (text: string) => void) {
    this.depth = depth;
    this.#store = store;
  }

  add(text: string): void {
    if (this.#room <= 0) return;
    this.#pieces.push(text.slice(0, this.#room));
    this.#room -= text.length;
  }

  end(): void {
    const line = this.#pieces.join('').replaceAll(/\s+/g, ' ').trim();
    this.#store(line.slice(0, MAX_CHARS).toWellFormed());
  }
}
