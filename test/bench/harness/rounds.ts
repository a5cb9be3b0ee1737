/** One side of a comparison. */
export interface Side<T> {
  name: string;
  run: () => Promise<T>;
}

/**
 * Runs both sides alternately (A-B-A-B), after warm-up rounds whose results are dropped. Every second round swaps the
 * order, so that neither side always profits from what the other left in caches.
 */
export async function interleave<A, B>(
  a: Side<A>,
  b: Side<B>,
  options: { rounds: number; warmUps: number; onRound?: (text: string) => void },
): Promise<{ a: A[]; b: B[] }> {
  const results: { a: A[]; b: B[] } = { a: [], b: [] };
  for (let round = -options.warmUps; round < options.rounds; round++) {
    const label = round < 0 ? 'warm-up' : `round ${round + 1} of ${options.rounds}`;
    const keep = <T>(list: T[], value: T) => void (round >= 0 && list.push(value));
    const runA = async () => {
      options.onRound?.(`${label}: ${a.name}`);
      keep(results.a, await a.run());
    };
    const runB = async () => {
      options.onRound?.(`${label}: ${b.name}`);
      keep(results.b, await b.run());
    };
    for (const run of round % 2 === 0 ? [runA, runB] : [runB, runA]) await run();
  }
  return results;
}
