import { useState } from 'react';
import type { Targets } from '../../acting/actions-menu.tsx';
import { useLive } from '../../live/live.tsx';
import { useReloadState } from '../../ui/drafts/use-reload-state.ts';
import { type Selection, useSelection } from '../../ui/use-selection.ts';

/** The chosen computers of a list: some of them, or all that the query finds but some. */
export interface ComputerSelection {
  selection: Selection;
  count: number;
  isAll: boolean;
  selectAll: () => void;
  /** Null while none is chosen. */
  targets: Targets | null;
}

/** Starts empty, and again with each query. `total` is how many computers the query finds. */
export function useComputerSelection(query: string, total: number): ComputerSelection {
  const chosen = useSelection('computers');
  const left = useSelection('computers.left-out');
  const [allOf, setAllOf] = useReloadState<string | null>('computers.all-of', null);
  const [lastQuery, setLastQuery] = useState(query);
  if (query !== lastQuery) {
    setLastQuery(query);
    setAllOf(null);
    chosen.clear();
  }
  useLive((event) => {
    if (event.type === 'computer.removed' && chosen.has(event.data.computer_id)) chosen.toggle(event.data.computer_id);
  });
  const isAll = allOf === query;
  const clear = () => {
    setAllOf(null);
    chosen.clear();
  };
  const all: Selection = { ...left, has: (id) => !left.has(id), set: clear, clear };
  const count = isAll ? Math.max(0, total - left.ids.size) : chosen.ids.size;
  const excepted = [...left.ids].map((id) => `NOT id:${id}`);
  const allTargets: Targets = { query: [query, ...excepted].filter((term) => term !== '').join(' ') };
  return {
    selection: isAll ? all : chosen,
    count,
    isAll,
    selectAll() {
      left.clear();
      setAllOf(query);
    },
    targets: count === 0 ? null : isAll ? allTargets : { ids: [...chosen.ids] },
  };
}
