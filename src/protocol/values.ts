/**
 * Text is a string, a byte string a Buffer, an integer a number, beyond 2^53-1 a bigint. Floats and tuples are classes:
 * `1` is not `1.0`. Dicts with text keys only are objects without prototype (`__proto__` is a key), others Maps.
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

export interface BObject {
  [key: string]: BValue;
}

export class BFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export class BTuple {
  readonly items: BValue[];

  constructor(items: BValue[]) {
    this.items = items;
  }
}

/** Creates an empty dict that is safe for keys from outside. */
export function emptyDict(): BObject {
  return Object.create(null) as BObject;
}

/** Whether `value` is a dict whose keys are all text. */
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
