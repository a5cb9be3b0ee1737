/** One side of a comparison. */
export type Sides<T> = Readonly<Record<string, () => Promise<T>>>;

export interface RoundOptions {
  rounds: number;
  warmUps: number;
  onRound?: (text: string) => void;
}

/**
 * Runs all sides alternately (A-B-A-B), after warm-up rounds whose results are dropped. Each round starts with another
 * side, so that none always profits from warm caches.
 */
export async function interleave<T, S extends Sides<T>>(
  sides: S,
  options: RoundOptions,
): Promise<{ [K in keyof S]: T[] }> {
  const names = Object.keys(sides);
  const results = Object.fromEntries(names.map((name): [string, T[]] => [name, []]));
  for (let round = 0; round < options.warmUps + options.rounds; round++) {
    const measured = round - options.warmUps + 1;
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!;
      options.onRound?.(`${measured < 1 ? 'warm-up' : `round ${measured} of ${options.rounds}`}: ${name}`);
      const result = await sides[name]!();
      if (measured >= 1) results[name]!.push(result);
    }
  }
  return results as { [K in keyof S]: T[] };
}
