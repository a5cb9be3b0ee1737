/** A group of cells as a rectangle of the map, in cells. */
export interface Block {
  x: number;
  y: number;
  columns: number;
  rows: number;
  /** Index of the first cell. */
  start: number;
  cells: number;
}

/** Where each cell is; the unit is one cell. */
export interface Layout {
  width: number;
  height: number;
  cells: number;
  /** Height of the line with a group's name above its block. */
  label: number;
  blocks: readonly Block[];
}

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

const LABEL_PX = 20;
const GAP_PX = 6;
const MAX_CELL_PX = 24;

/** Shapes of blocks, and widths of the whole, of which the one that fits the view best is taken. */
const ASPECTS = [0.4, 0.7, 1, 1.5, 2.5, 4];
const WIDTHS = [0.5, 0.7, 0.85, 1, 1.15, 1.3, 1.6, 2];

/**
 * Places groups of cells in lines from left to right, so that all together have about the shape of the view.
 * @param counts - numbers of cells of the groups
 * @param isLabelled - whether each has a name above it; without, there is one block as wide as the view
 */
export function layOut(counts: readonly number[], view: Size, isLabelled: boolean): Layout {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const { width, height } = { width: Math.max(1, view.width), height: Math.max(1, view.height) };
  const cellPx = Math.min(MAX_CELL_PX, Math.sqrt((width * height) / (total + 1)));
  if (!isLabelled) {
    const columns = Math.max(1, Math.floor(width / cellPx));
    return place(counts, { width: columns, label: 0, gap: 0, columnsOf: () => columns });
  }
  const label = Math.ceil(LABEL_PX / cellPx);
  const gap = Math.ceil(GAP_PX / cellPx);
  const layouts = ASPECTS.flatMap((aspect) =>
    WIDTHS.map((share) => {
      const most = Math.max(1, Math.floor((share * width) / cellPx));
      const columnsOf = (cells: number) => Math.min(most, Math.ceil(Math.sqrt(cells * aspect)));
      return place(counts, { width: most, label, gap, columnsOf });
    }),
  );
  const scaleOf = (layout: Layout) => Math.min(width / layout.width, height / layout.height);
  return layouts.reduce((best, layout) => (scaleOf(layout) > scaleOf(best) ? layout : best));
}

interface Arrangement {
  width: number;
  label: number;
  gap: number;
  columnsOf: (cells: number) => number;
}

function place(counts: readonly number[], { width, label, gap, columnsOf }: Arrangement): Layout {
  const blocks: Block[] = [];
  let [x, y, lineHeight, start, right] = [0, 0, 0, 0, 0];
  for (const cells of counts) {
    const columns = columnsOf(cells);
    const rows = Math.ceil(cells / columns);
    if (x > 0 && x + columns > width) {
      y += lineHeight;
      [x, lineHeight] = [0, 0];
    }
    blocks.push({ x, y: y + label, columns, rows, start, cells });
    right = Math.max(right, x + Math.min(columns, cells));
    x += columns + gap;
    lineHeight = Math.max(lineHeight, label + rows + gap);
    start += cells;
  }
  return { width: Math.max(1, right), height: Math.max(1, y + lineHeight - gap), cells: start, label, blocks };
}

/** The block of a cell. */
export function blockOf({ blocks }: Layout, cell: number): Block {
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (blocks[middle]!.start <= cell) low = middle;
    else high = middle - 1;
  }
  return blocks[low]!;
}

/** The upper left corner of a cell. */
export function positionOf(layout: Layout, cell: number): Point {
  const { x, y, columns, start } = blockOf(layout, cell);
  const at = cell - start;
  return { x: x + (at % columns), y: y + Math.floor(at / columns) };
}

/** The cell at a point, or null. */
export function cellAt({ blocks }: Layout, point: Point): number | null {
  const [column, row] = [Math.floor(point.x), Math.floor(point.y)];
  for (const block of blocks) {
    const [across, down] = [column - block.x, row - block.y];
    if (across < 0 || across >= block.columns || down < 0 || down >= block.rows) continue;
    const at = down * block.columns + across;
    return at < block.cells ? block.start + at : null;
  }
  return null;
}

/** The cells of a rectangle between two points, in ascending order. */
export function cellsBetween({ blocks }: Layout, one: Point, other: Point): number[] {
  const left = Math.floor(Math.min(one.x, other.x));
  const right = Math.floor(Math.max(one.x, other.x));
  const top = Math.floor(Math.min(one.y, other.y));
  const bottom = Math.floor(Math.max(one.y, other.y));
  const found: number[] = [];
  for (const { x, y, columns, rows, start, cells } of blocks) {
    const [first, last] = [Math.max(left - x, 0), Math.min(right - x, columns - 1)];
    for (let row = Math.max(top - y, 0); row <= Math.min(bottom - y, rows - 1); row += 1) {
      for (let column = first; column <= last; column += 1) {
        const at = row * columns + column;
        if (at < cells) found.push(start + at);
      }
    }
  }
  return found;
}

/** The cell that an arrow key leads to: the next in the direction, also in another block; the same at an edge. */
export function neighbour(layout: Layout, cell: number, direction: Point): number {
  if (direction.x !== 0) return Math.min(Math.max(cell + direction.x, 0), layout.cells - 1);
  const { x, y } = positionOf(layout, cell);
  for (let row = y + direction.y; row >= 0 && row < layout.height; row += direction.y) {
    const found = cellAt(layout, { x, y: row });
    if (found !== null) return found;
  }
  return cell;
}
