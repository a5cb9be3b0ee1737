import {
  columnVisibilityFeature,
  createColumnHelper,
  type ReactTable,
  type Row,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { ErrorMessage } from './error-message.tsx';
import { Skeleton } from './page.tsx';
import { useRowCursor } from './use-row-cursor.ts';
import type { RowSource } from './use-rows.ts';
import type { Selection } from './use-selection.ts';

/** A column of a table. */
export interface Column<T> {
  id: string;
  header: string;
  /** Of CSS grid, such as `minmax(160px, 2fr)`. */
  width: string;
  /** `end` for numbers. */
  align?: 'start' | 'end';
  cell: (row: T) => ReactNode;
}

interface DataTableProps<T> {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: RowSource<T>;
  rowKey: (row: T) => number;
  /** Names the row for its checkbox; needed with `selection`. */
  rowLabel?: (row: T) => string;
  selection?: Selection;
  /** Opens a row by Enter: the arrow keys move over the rows, and the space bar selects. */
  onOpen?: (row: T) => void;
  /** Ids of columns that are not shown. */
  hidden?: readonly string[];
  /** What is shown when the list has no rows. */
  empty: ReactNode;
}

/** A line of the window: its row is missing while it is being read. */
interface Line<T> {
  index: number;
  row: T | undefined;
}

const ROW_HEIGHT = 32;
const OVERSCAN = 20;
const features = tableFeatures({ columnVisibilityFeature });
type Features = typeof features;

/** A table of any length with one row per line, of which only the rows in view exist. */
export function DataTable<T>(props: DataTableProps<T>) {
  const { rows, empty } = props;
  if (rows.count === null) return rows.error == null ? <Skeleton lines={12} /> : <ErrorMessage error={rows.error} />;
  if (rows.count === 0) return empty;
  return (
    <>
      <ErrorMessage error={rows.error} />
      <VirtualTable {...props} count={rows.count} />
    </>
  );
}

function VirtualTable<T>(props: DataTableProps<T> & { count: number }) {
  const { label, rows, count, columns, hidden = [], selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const cursor = useRowCursor({ ...props, scrollTo: (index) => virtualizer.scrollToIndex(index) });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => rows.onRange(first, last));
  const table = useTable({
    features,
    columns: useTableColumns(columns),
    data: items.map(({ index }): Line<T> => ({ index, row: rows.get(index) })),
    state: { columnVisibility: Object.fromEntries(hidden.map((id) => [id, false])) },
    getRowId: ({ index }) => String(index),
  });
  const widths = columns.filter(({ id }) => !hidden.includes(id)).map(({ width }) => width);
  const gridTemplateColumns = [...(selection ? ['32px'] : []), ...widths].join(' ');
  return (
    <div ref={scroller} className="table-scroller">
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role is always table or grid */}
      <div role={cursor.role} {...cursor.grid} aria-label={label} aria-rowcount={count + 1} className="table">
        <TableHead {...props} table={table} gridTemplateColumns={gridTemplateColumns} />
        {/* biome-ignore lint/a11y/useSemanticElements: rows out of view do not exist, which a table element cannot state */}
        <div role="rowgroup" className="table-body" style={{ height: virtualizer.getTotalSize() }}>
          {table.getRowModel().rows.map((row) => (
            <TableRow key={row.id} {...props} {...{ table, row, cursor, gridTemplateColumns }} />
          ))}
        </div>
      </div>
    </div>
  );
}

function useTableColumns<T>(columns: readonly Column<T>[]) {
  return useMemo(() => {
    const helper = createColumnHelper<Features, Line<T>>();
    return columns.map(({ id, header, cell, align = 'start' }) =>
      helper.display({
        id,
        header,
        meta: { align },
        cell: ({ row: { original } }) =>
          original.row === undefined ? <span className="cell-skeleton" /> : cell(original.row),
      }),
    );
  }, [columns]);
}

interface PartProps {
  gridTemplateColumns: string;
}

interface RowProps<T> {
  table: ReactTable<Features, Line<T>>;
  row: Row<Features, Line<T>>;
  cursor: ReturnType<typeof useRowCursor<T>>;
}

function TableHead<T>({
  table,
  rows,
  rowKey,
  selection,
  gridTemplateColumns,
}: DataTableProps<T> & PartProps & { table: ReactTable<Features, Line<T>> }) {
  const known = table.getRowModel().rows.flatMap(({ original: { index } }) => rows.get(index) ?? []);
  const isAll = known.length > 0 && known.every((row) => selection?.has(rowKey(row)));
  const toggleAll = () => (isAll ? selection?.clear() : selection?.set(allKeys(rows, rowKey)));
  return (
    // biome-ignore lint/a11y/useSemanticElements: see VirtualTable
    <div role="rowgroup" className="table-head">
      {table.getHeaderGroups().map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: see VirtualTable
        // biome-ignore lint/a11y/useFocusableInteractive: a row of a table without keyboard cursor takes no focus
        <div key={group.id} role="row" aria-rowindex={1} className="table-row" style={{ gridTemplateColumns }}>
          {selection && (
            // biome-ignore lint/a11y/useSemanticElements: see VirtualTable
            // biome-ignore lint/a11y/useFocusableInteractive: the checkbox takes it
            <span role="columnheader" className="cell-check">
              <input
                type="checkbox"
                aria-label="Select all rows that are loaded"
                checked={isAll}
                onChange={toggleAll}
              />
            </span>
          )}
          {group.headers.map((header) => (
            // biome-ignore lint/a11y/useSemanticElements: see VirtualTable
            // biome-ignore lint/a11y/useFocusableInteractive: a header without sorting is not interactive
            <span key={header.id} role="columnheader" className={cellClass(header.column.columnDef.meta)}>
              <table.FlexRender header={header} />
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

function TableRow<T>({
  table,
  row,
  rowKey,
  rowLabel,
  selection,
  cursor,
  gridTemplateColumns,
}: DataTableProps<T> & PartProps & RowProps<T>) {
  const { index, row: value } = row.original;
  const key = value === undefined ? null : rowKey(value);
  const style = { gridTemplateColumns, transform: `translateY(${index * ROW_HEIGHT}px)` };
  const isSelected = key !== null && (selection?.has(key) ?? false);
  const cellRole = cursor.active === null ? 'cell' : 'gridcell';
  return (
    // biome-ignore lint/a11y/useSemanticElements: see VirtualTable
    // biome-ignore lint/a11y/useFocusableInteractive: a row of a table without keyboard cursor takes no focus
    <div
      role="row"
      id={cursor.rowId(index)}
      aria-rowindex={index + 2}
      className="table-row"
      aria-selected={selection && cursor.active !== null ? isSelected : undefined}
      data-selected={isSelected || undefined}
      data-active={cursor.active === index || undefined}
      style={style}
    >
      {selection && (
        <span role={cellRole} className="cell-check">
          {value !== undefined && key !== null && (
            <input
              type="checkbox"
              aria-label={`Select ${rowLabel?.(value) ?? key}`}
              checked={isSelected}
              tabIndex={cursor.active === null ? undefined : -1}
              onChange={({ nativeEvent }) =>
                cursor.choose(index, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
              }
            />
          )}
        </span>
      )}
      {row.getVisibleCells().map((cell) => (
        <span key={cell.id} role={cellRole} className={cellClass(cell.column.columnDef.meta)}>
          <table.FlexRender cell={cell} />
        </span>
      ))}
    </div>
  );
}

function allKeys<T>(rows: RowSource<T>, rowKey: (row: T) => number): number[] {
  return Array.from({ length: rows.count ?? 0 }, (_, index) => rows.get(index)).flatMap((row) =>
    row === undefined ? [] : [rowKey(row)],
  );
}

function cellClass(meta: unknown): string {
  const { align } = (meta ?? {}) as { align?: string };
  return align === 'end' ? 'cell cell-end' : 'cell';
}
