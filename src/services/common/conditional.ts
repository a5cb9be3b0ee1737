/** What a conditional read returns; the value is null when its entity tag is among those that the client knows. */
export interface Tagged<T> {
  tag: string;
  value: T | null;
}

/** Reads of one key at a time: a call during a read shares the next one with all others, so that it sees its own writes. */
export class JoinedReads<T> {
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Promise<T>>();

  join(key: string, read: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (!running) return this.#start(key, read);
    const known = this.#next.get(key);
    if (known) return known;
    const next = running.then(() => {
      this.#next.delete(key);
      return this.#start(key, read);
    });
    this.#next.set(key, next);
    return next;
  }

  #start(key: string, read: () => Promise<T>): Promise<T> {
    const result = read();
    const done = result
      .catch(() => undefined)
      .then(() => {
        if (this.#running.get(key) === done) this.#running.delete(key);
      });
    this.#running.set(key, done);
    return result;
  }
}
