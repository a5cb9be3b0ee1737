import { keepPreviousData, type QueryKey, useQueries } from '@tanstack/react-query';
import { useState } from 'react';

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
  error: unknown;
}

const PAGE = 200;

/**
 * Reads the pages of a list that are in view, with those around them. `key` identifies the list: a query that is invalidated
 * by its beginning reads the pages in view again.
 */
export function useRows<T>(
  key: QueryKey,
  load: (page: { offset: number; limit: number }, signal: AbortSignal) => Promise<RowPage<T>>,
): RowSource<T> {
  const [range, setRange] = useState({ first: 0, last: 0 });
  const firstPage = Math.max(0, Math.floor(range.first / PAGE - 0.5));
  const lastPage = Math.floor(range.last / PAGE + 0.5);
  const pages = Array.from({ length: lastPage - firstPage + 1 }, (_, index) => firstPage + index);
  const queries = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...key, { page }],
      queryFn: ({ signal }: { signal: AbortSignal }) => load({ offset: page * PAGE, limit: PAGE }, signal),
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
    onRange: (first, last) => {
      if (first !== range.first || last !== range.last) setRange({ first, last });
    },
    error: queries.find(({ error }) => error)?.error ?? null,
  };
}

/** Rows that are all there already. */
export function allRows<T>(rows: readonly T[] | undefined, error: unknown = null): RowSource<T> {
  return { count: rows?.length ?? null, get: (index) => rows?.[index], onRange: () => undefined, error };
}
