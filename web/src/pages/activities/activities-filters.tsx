import { usePageSearch } from '../../url/use-page-search.ts';
import { CheckField, SelectField } from '../../ui/field.tsx';
import { ACTIVITY_STATES } from '../../ui/state-mark.tsx';
import { SearchField } from './search-field.tsx';

export const STATUS_OPTIONS = [
  { value: '', label: 'Any' },
  ...Object.entries(ACTIVITY_STATES).map(([value, { label }]) => ({ value, label })),
];

/** Which activities the list shows, kept in the URL. */
export function ActivitiesFilters({ onChange }: { onChange: () => void }) {
  const { get, set } = usePageSearch();
  const change = (name: string, value: string) => {
    onChange();
    set({ [name]: value || undefined });
  };
  return (
    <search className="filters">
      <SearchField
        label="Query"
        value={get('query')}
        onChange={(value) => change('query', value)}
        placeholder="Words, or computer:tag:lab created-after:2026-05"
        className="filters-wide"
      />
      <SelectField
        label="Status"
        options={STATUS_OPTIONS}
        value={get('status')}
        onChange={({ target }) => change('status', target.value)}
      />
      <CheckField
        label="Only what I started"
        checked={get('mine') === 'true'}
        onChange={({ target }) => change('mine', target.checked ? 'true' : '')}
      />
    </search>
  );
}
