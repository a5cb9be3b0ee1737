import { useState } from 'react';

/** The chosen rows of a table, by their keys. */
export interface Selection {
  ids: ReadonlySet<number>;
  has: (id: number) => boolean;
  /** Chooses a row or takes it out; with `upTo`, also all known rows between it and the last that was chosen. */
  toggle: (id: number, between?: readonly number[]) => void;
  set: (ids: Iterable<number>) => void;
  clear: () => void;
}

/** An empty selection at first. */
export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
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
    set: (chosen) => setIds(new Set(chosen)),
    clear: () => setIds(new Set()),
  };
}
