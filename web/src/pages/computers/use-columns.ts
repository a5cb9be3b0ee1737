import { usePageSearch } from '../../url/use-page-search.ts';
import { COLUMNS, DEFAULT_COLUMNS } from './columns.tsx';

const KEY = 'flotilla.computers.columns';

/** The ids of the columns that are shown: those of the URL, or those that were last chosen in this browser. */
export function useColumns() {
  const { get, set } = usePageSearch();
  const shown = known(get('columns')) ?? known(localStorage.getItem(KEY) ?? '') ?? DEFAULT_COLUMNS;
  const show = (id: string, isShown: boolean) => {
    const ids = COLUMNS.map((column) => column.id).filter((other) => (other === id ? isShown : shown.includes(other)));
    localStorage.setItem(KEY, ids.join(','));
    set({ columns: ids.join(',') });
  };
  const reset = () => {
    localStorage.removeItem(KEY);
    set({ columns: undefined });
  };
  return { shown, show, reset };
}

/** The title is always there: it names the row, and links to the computer. */
function known(text: string): readonly string[] | null {
  const wanted = text.split(',');
  const ids = COLUMNS.map(({ id }) => id).filter((id) => wanted.includes(id));
  return ids.length === 0 ? null : [...new Set(['title', ...ids])];
}
