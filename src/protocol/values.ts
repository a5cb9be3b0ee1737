/**
 * A value of the agents' wire encoding.
 *
 * Text is a string and a byte string a Buffer (any Uint8Array when writing); an integer is a number, or a bigint beyond
 * 2^53-1; floats and tuples have classes of their own, because the wire tells `1` from `1.0` and a list from a tuple.
 * A dict whose keys are all text is an object without prototype, so that a key `__proto__` is a key like any other;
 * any other dict is a Map.
 */
export type BValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | BFloat
  | BTuple
  | BValue[]
  | BObject
  | Map<BValue, BValue>;

/** A dict with text keys. Read ones have no prototype. */
export interface BObject {
  [key: string]: BValue;
}

/** A float; integers never travel as one. */
export class BFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A tuple: what package ranges and graph points are. */
export class BTuple {
  readonly items: BValue[];

  constructor(items: BValue[]) {
    this.items = items;
  }
}

/** Makes an empty dict that is safe for keys from outside. */
export function emptyDict(): BObject {
  return Object.create(null) as BObject;
}

/** Tells whether `value` is a dict whose keys are all text. */
export function isDict(value: BValue | undefined): value is BObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array) &&
    !(value instanceof BFloat) &&
    !(value instanceof BTuple) &&
    !(value instanceof Map)
  );
}

/** The order of Unicode code points, which differs from the order of UTF-16 units beyond U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    if (isSurrogate(left) === isSurrogate(right)) return left - right;
    return isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
