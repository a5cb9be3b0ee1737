import type { ComputerMap } from './looks.ts';

const DIGIT = '0'.charCodeAt(0);

/** A map as it is drawn: a computer and a value for each cell. */
export interface MapData {
  /** What the values are about, as in the address, such as `activity:7`. */
  color: string;
  count: number;
  legend: ComputerMap['legend'];
  groups: ComputerMap['groups'];
  ids: Int32Array;
  values: Uint8Array;
  /** Whether a cell is of a computer that has one before, in another group. */
  repeats: Uint8Array;
  /** The cells of each computer. */
  cellsOf: () => ReadonlyMap<number, readonly number[]>;
}

/** Reads a response. @param before - the map before it: what has not changed stays the same object */
export function toMapData(color: string, read: ComputerMap, before?: MapData): MapData {
  const values = Uint8Array.from(read.values, (digit) => digit.charCodeAt(0) - DIGIT);
  if (before && before.color === color && hasSameCells(before, read)) return { ...before, count: read.count, values };
  const ids = Int32Array.from(read.ids);
  let cells: Map<number, number[]> | null = null;
  return {
    color,
    count: read.count,
    legend: read.legend,
    groups: read.groups,
    ids,
    values,
    repeats: ids.length > read.count ? repeatsOf(ids) : new Uint8Array(ids.length),
    cellsOf() {
      cells ??= indexOf(ids);
      return cells;
    },
  };
}

function repeatsOf(ids: Int32Array): Uint8Array {
  const seen = new Set<number>();
  return Uint8Array.from(ids, (id) => {
    const isKnown = seen.has(id);
    seen.add(id);
    return Number(isKnown);
  });
}

function hasSameCells(before: MapData, { ids, groups }: ComputerMap): boolean {
  return (
    before.ids.length === ids.length &&
    before.ids.every((id, cell) => id === ids[cell]) &&
    JSON.stringify(before.groups) === JSON.stringify(groups)
  );
}

function indexOf(ids: Int32Array): Map<number, number[]> {
  const cells = new Map<number, number[]>();
  for (const [cell, id] of ids.entries()) {
    const known = cells.get(id);
    if (known) known.push(cell);
    else cells.set(id, [cell]);
  }
  return cells;
}

/**
 * The map with new values of some computers. Null when one of them has appeared or disappeared: then all of it has to be read.
 * @param requested - the computers that were read
 */
export function patched(data: MapData, requested: readonly number[], read: Pick<ComputerMap, 'ids' | 'values'>) {
  const cells = data.cellsOf();
  const found = new Map(read.ids.map((id, index) => [id, read.values.charCodeAt(index) - DIGIT]));
  if (requested.some((id) => cells.has(id) !== found.has(id))) return null;
  const values = Uint8Array.from(data.values);
  for (const [id, value] of found) for (const cell of cells.get(id)!) values[cell] = value;
  return { ...data, values };
}

/** The cells whose values differ. */
export function changedCells(before: Uint8Array, after: Uint8Array): number[] {
  const changed: number[] = [];
  for (let cell = 0; cell < after.length; cell += 1) if (before[cell] !== after[cell]) changed.push(cell);
  return changed;
}

/** How many computers have each value, in each group and in all. */
export function countValues({ groups, repeats, values, legend }: MapData): { groups: number[][]; all: number[] } {
  const all = legend.map(() => 0);
  let cell = 0;
  const counts = groups.map(({ cells }) => {
    const own = legend.map(() => 0);
    for (const end = cell + cells; cell < end; cell += 1) {
      const value = values[cell]!;
      own[value]! += 1;
      if (repeats[cell] === 0) all[value]! += 1;
    }
    return own;
  });
  return { groups: counts, all };
}

/** The computers of some cells, each once, in ascending order. */
export function computersOf({ ids }: MapData, cells: Iterable<number>): number[] {
  return [...new Set(Array.from(cells, (cell) => ids[cell]!))].sort((a, b) => a - b);
}
