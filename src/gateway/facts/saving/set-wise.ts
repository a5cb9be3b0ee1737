/** A fact about a computer. Each kind of fact is saved for different computers in one statement. */
export interface Of<T> {
  computerId: number;
  value: T;
}

export function idsOf(reports: ReadonlyArray<Of<unknown>>): number[] {
  return reports.map(({ computerId }) => computerId);
}

/** All rows of all computers. */
export function rowsOf<T>(reports: ReadonlyArray<Of<Iterable<T>>>): Array<{ computerId: number; row: T }> {
  return reports.flatMap(({ computerId, value }) => [...value].map((row) => ({ computerId, row })));
}

/** Names as the keys of a JSON object, where PostgreSQL finds one without looking at all. */
export function keysOf(names: Iterable<string>): string {
  return JSON.stringify(Object.fromEntries([...names].map((name) => [name, 0])));
}
