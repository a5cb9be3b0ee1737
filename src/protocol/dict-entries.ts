import { type BObject, type BValue, emptyDict } from './values.ts';

/** A dict while it is read: a plain object as long as every key is text. */
export class DictEntries {
  readonly #dict = emptyDict();
  #map: Map<BValue, BValue> | undefined;

  add(key: BValue, value: BValue): void {
    if (this.#map === undefined && typeof key !== 'string') this.#map = new Map(Object.entries(this.#dict));
    if (this.#map) this.#map.set(key, value);
    else this.#dict[key as string] = value;
  }

  get value(): BObject | Map<BValue, BValue> {
    return this.#map ?? this.#dict;
  }
}
