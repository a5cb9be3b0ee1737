import { keepPreviousData, type QueryKey, useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

/** Rows of a page of a list, as the API counts them. */
export interface RowPage<T> {
  count: number;
  results: readonly T[];
}

/** A list of any length of which only what is in view is read. */
export interface RowSource<T> {
  /** Null until it is known. */
  count: number | null;
  /** Undefined while it is being read. */
  get: (index: number) => T | undefined;
  /** The table calls it with the rows in view. */
  onRange: (first: number, last: number) => void;
  /** Reads rows that may be out of view, both ends included. @throws {ApiError} */
  read: (first: number, last: number) => Promise<T[]>;
  error: unknown;
}

const PAGE = 200;
/** A scroll bar that is dragged passes pages that nobody will see. */
const JUMP_PAUSE_MS = 60;

/**
 * Reads the pages of a list that are in view, with those around them. `key` identifies the list: a query that is invalidated
 * by its beginning reads the pages in view again.
 */
export function useRows<T>(
  key: QueryKey,
  load: (page: { offset: number; limit: number }, signal: AbortSignal) => Promise<RowPage<T>>,
): RowSource<T> {
  const { range, onRange } = useRange();
  const queryClient = useQueryClient();
  const firstPage = Math.max(0, Math.floor(range.first / PAGE - 0.5));
  const lastPage = Math.floor(range.last / PAGE + 0.5);
  const pages = pagesBetween(firstPage, lastPage);
  const queryOf = (page: number) => ({
    queryKey: [...key, { page }],
    queryFn: ({ signal }: { signal: AbortSignal }) => load({ offset: page * PAGE, limit: PAGE }, signal),
  });
  const queries = useQueries({
    queries: pages.map((page) => ({
      ...queryOf(page),
      placeholderData: page === 0 ? keepPreviousData : undefined,
    })),
  });
  const known = queries.find(({ data }) => data !== undefined)?.data;
  const [lastCount, setLastCount] = useState<number | null>(null);
  const count = known?.count ?? lastCount;
  if (count !== lastCount) setLastCount(count);
  return {
    count,
    get: (index) => queries[Math.floor(index / PAGE) - firstPage]?.data?.results[index % PAGE],
    onRange,
    async read(first, last) {
      const wanted = pagesBetween(Math.floor(first / PAGE), Math.floor(last / PAGE));
      const read = await Promise.all(
        wanted.map((page) => queryClient.fetchQuery({ ...queryOf(page), staleTime: 30_000 })),
      );
      const skipped = first % PAGE;
      return read.flatMap(({ results }) => results).slice(skipped, skipped + last - first + 1);
    },
    error: queries.find(({ error }) => error)?.error ?? null,
  };
}

/** The rows in view; jumps become known when they have come to rest. */
function useRange() {
  const [range, setRange] = useState({ first: 0, last: 0 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onRange = (first: number, last: number) => {
    clearTimeout(timer.current);
    if (first === range.first && last === range.last) return;
    if (Math.abs(first - range.first) < PAGE) setRange({ first, last });
    else timer.current = setTimeout(() => setRange({ first, last }), JUMP_PAUSE_MS);
  };
  return { range, onRange };
}

function pagesBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Rows that are all there already. */
export function allRows<T>(rows: readonly T[] | undefined, error: unknown = null): RowSource<T> {
  return {
    count: rows?.length ?? null,
    get: (index) => rows?.[index],
    onRange: () => undefined,
    read: async (first, last) => rows?.slice(first, last + 1) ?? [],
    error,
  };
}
