import { type KeyboardEvent, useId, useRef, useState } from 'react';
import type { RowSource } from './use-rows.ts';
import type { Selection } from './use-selection.ts';

interface CursorOptions<T> {
  rows: RowSource<T>;
  count: number;
  rowKey: (row: T) => number;
  selection?: Selection | undefined;
  /** What Enter does with a row; without it the table has no cursor. */
  onOpen?: ((row: T) => void) | undefined;
  scrollTo: (index: number) => void;
}

const PAGE_ROWS = 15;

/**
 * The keyboard of a table: arrows, Page Up and Down, Home and End move a cursor over its rows, the space bar chooses, with Shift up
 * to there, and Enter opens. The focus stays on the table, as rows out of view do not exist.
 */
export function useRowCursor<T>({ rows, count, rowKey, selection, onOpen, scrollTo }: CursorOptions<T>) {
  const id = useId();
  const [wanted, setWanted] = useState(0);
  const lastChosen = useRef<number | null>(null);
  const active = Math.min(wanted, count - 1);
  const choose = (index: number, isRange: boolean) => {
    const row = rows.get(index);
    if (row === undefined || !selection) return;
    const from = isRange ? lastChosen.current : null;
    lastChosen.current = index;
    setWanted(index);
    if (from === null) return selection.toggle(rowKey(row));
    const range = rows.read(Math.min(from, index), Math.max(from, index));
    // Where the rows between cannot be read, the table shows the error.
    range.then(
      (between) => selection.toggle(rowKey(row), between.map(rowKey)),
      () => undefined,
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows.get(active);
    const next = nextRow(event.key, active, count);
    if (next !== null) {
      setWanted(next);
      scrollTo(next);
    } else if (event.key === ' ') choose(active, event.shiftKey);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
    else return;
    event.preventDefault();
  };
  const rowId = (index: number) => `${id}-${index}`;
  const grid = { tabIndex: 0, 'aria-activedescendant': rowId(active), onKeyDown };
  return { active: onOpen ? active : null, role: onOpen ? 'grid' : 'table', rowId, choose, grid: onOpen ? grid : {} };
}

function nextRow(key: string, active: number, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + PAGE_ROWS,
    PageUp: active - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  };
  const next = steps[key];
  return next === undefined ? null : Math.max(0, Math.min(count - 1, next));
}
