export interface PerComputer<T> {
  computerId: number;
  value: T;
}

export function computerIds(reports: ReadonlyArray<PerComputer<unknown>>): number[] {
  return reports.map(({ computerId }) => computerId);
}

export function toRows<T>(reports: ReadonlyArray<PerComputer<Iterable<T>>>): Array<{ computerId: number; row: T }> {
  return reports.flatMap(({ computerId, value }) => [...value].map((row) => ({ computerId, row })));
}

/** Names as keys of a JSON object, for fast lookups in PostgreSQL. */
export function jsonKeys(names: Iterable<string>): string {
  return JSON.stringify(Object.fromEntries([...names].map((name) => [name, 0])));
}

/** One array per column: the computers, then the given keys of their rows. */
export function toColumns<T>(
  rows: ReadonlyArray<{ computerId: number; row: T }>,
  ...keys: ReadonlyArray<keyof T>
): unknown[][] {
  return [rows.map(({ computerId }) => computerId), ...keys.map((key) => rows.map(({ row }) => row[key]))];
}
