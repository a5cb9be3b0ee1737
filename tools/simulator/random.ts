/** A deterministic generator of random values. */
export interface Random {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
  /** `count` different items, in their original order. */
  sample<T>(items: readonly T[], count: number): T[];
  hex(length: number): string;
  digits(length: number): string;
  uuid(): string;
}

const GOLDEN = 0x9e3779b9;

/** Creates a generator from a seed and a path such as `('disks', 7)`. Equal paths give equal values everywhere. */
export function createRandom(seed: number, ...path: readonly (string | number)[]): Random {
  let state = hashPath(seed, path);
  const word = (): number => {
    state = (state + GOLDEN) | 0;
    return mix(state) >>> 0;
  };
  const next = (): number => word() / 2 ** 32;
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const text = (length: number, base: number): string => {
    let out = '';
    while (out.length < length) out += int(0, base - 1).toString(base);
    return out;
  };
  return {
    next,
    int,
    pick: (items) => items[int(0, items.length - 1)]!,
    chance: (share) => next() < share,
    sample: (items, count) => {
      const order = items.map((_, position) => ({ position, draw: next() })).sort((a, b) => a.draw - b.draw);
      const chosen = order.slice(0, count).map(({ position }) => position);
      return chosen.sort((a, b) => a - b).map((position) => items[position]!);
    },
    hex: (length) => text(length, 16),
    digits: (length) => text(length, 10),
    uuid: () => `${text(8, 16)}-${text(4, 16)}-5${text(3, 16)}-a${text(3, 16)}-${text(12, 16)}`,
  };
}

function hashPath(seed: number, path: readonly (string | number)[]): number {
  let hash = mix(seed | 0);
  for (const part of path) {
    for (const character of `${part}/`) hash = mix(Math.imul(hash ^ character.codePointAt(0)!, 0x01000193));
  }
  return hash;
}

/** Spreads every bit of a 32-bit word over all of them. */
function mix(word: number): number {
  let value = word ^ (word >>> 16);
  value = Math.imul(value, 0x21f0aaad);
  value ^= value >>> 15;
  value = Math.imul(value, 0x735a2d97);
  return value ^ (value >>> 15);
}
