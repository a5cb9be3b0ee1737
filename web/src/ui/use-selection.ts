import { useMemo } from 'react';
import { useReloadState } from './drafts/use-reload-state.ts';

const NONE: readonly number[] = [];

/** The chosen rows of a table, by their keys. */
export interface Selection {
  ids: ReadonlySet<number>;
  has: (id: number) => boolean;
  /** Chooses a row or takes it out; with `upTo`, also all known rows between it and the last that was chosen. */
  toggle: (id: number, between?: readonly number[]) => void;
  set: (ids: Iterable<number>) => void;
  clear: () => void;
}

/** A selection of a view, empty at first; it survives a reload. */
export function useSelection(view: string): Selection {
  const [list, setList] = useReloadState<readonly number[]>(`selection.${view}`, NONE);
  const ids: ReadonlySet<number> = useMemo(() => new Set(list), [list]);
  const setIds = (chosen: Iterable<number>) => setList([...new Set(chosen)]);
  return {
    ids,
    has: (id) => ids.has(id),
    toggle(id, between = []) {
      const next = new Set(ids);
      const isChosen = !next.has(id);
      for (const changed of [...between, id]) {
        if (isChosen) next.add(changed);
        else next.delete(changed);
      }
      setIds(next);
    },
    set: setIds,
    clear: () => setList(NONE),
  };
}
