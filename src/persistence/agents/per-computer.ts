export interface PerComputer<T> {
  computerId: number;
  value: T;
}

export function computerIds(reports: ReadonlyArray<PerComputer<unknown>>): number[] {
  return reports.map(({ computerId }) => computerId);
}

export type ColumnTypes = Readonly<Record<string, string>>;

/** Column names (snake case) of camel case fields, in the same order. */
export function columnsOf(types: ColumnTypes): string[] {
  return Object.keys(types).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

/** SQL of the rows of {@link arraysOf}, with their alias and the names of their columns. */
export function unnest(alias: string, types: ColumnTypes, { ordinal }: { ordinal?: string } = {}): string {
  const arrays = Object.entries(types).map(([name, type]) => `:${alias}_${name}::${type}[]`);
  const columns = [...columnsOf(types), ...(ordinal ? [ordinal] : [])];
  return `unnest(${arrays.join(', ')}) ${ordinal ? 'with ordinality ' : ''}${alias}(${columns.join(', ')})`;
}

/** Parameters of {@link unnest}: one array per column. */
export function arraysOf<Alias extends string, Name extends string>(
  alias: Alias,
  types: Readonly<Record<Name, string>>,
  rows: ReadonlyArray<Readonly<Record<NoInfer<Name>, unknown>>>,
): Record<`${Alias}_${Name}`, unknown[]> {
  const names = Object.keys(types) as Name[];
  const arrays = names.map((name) => [`${alias}_${name}`, rows.map((row) => row[name])]);
  return Object.fromEntries(arrays) as Record<`${Alias}_${Name}`, unknown[]>;
}
