import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { PageSearch } from './search.ts';

/**
 * The state of a view in its URL: a reader of text parameters and a function that changes some of them (undefined removes
 * one). Changes replace the entry of the history unless `push` is given.
 */
export function usePageSearch() {
  const search = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const get = (name: string, fallback = ''): string => String(search[name] ?? fallback);
  const set = useCallback(
    (changes: PageSearch, { push = false } = {}) => {
      void navigate({
        to: '.',
        search: (old: PageSearch) => ({ ...old, ...changes }),
        replace: !push,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return { search, get, set };
}
