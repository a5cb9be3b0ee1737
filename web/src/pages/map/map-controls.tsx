import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import type { PageSearch } from '../../url/search.ts';
import { QueryField } from '../../query/query-field.tsx';
import { SelectField } from '../../ui/field.tsx';
import type { MapView } from './use-map.ts';

interface MapControlsProps {
  view: MapView;
  /** Of the server, about the query. */
  error: unknown;
  onChange: (changes: PageSearch) => void;
}

const COLORS = [
  { value: 'state', label: 'State' },
  { value: 'contact', label: 'Last contact' },
  { value: 'compliance', label: 'Compliance' },
  { value: 'activity', label: 'Result of an activity' },
];

const GROUPS = [
  { value: 'none', label: 'Nothing' },
  { value: 'access_group', label: 'Access group' },
  { value: 'tag', label: 'Tag' },
];

const RECENT = 20;

/** Which computers are on the map, what their colours mean, and how they are grouped. */
export function MapControls({ view, error, onChange }: MapControlsProps) {
  const [kind] = view.color.split(':');
  const activities = useRecentActivities(kind === 'activity', view.color);
  const colorOf = (value: string) => (value === 'activity' ? `activity:${activities.newest ?? 0}` : value);
  return (
    <div className="map-controls">
      <QueryField value={view.query} onChange={(query) => onChange({ query: query || undefined })} error={error} />
      <SelectField
        label="Colour by"
        value={kind}
        options={activities.newest === null ? COLORS.slice(0, -1) : COLORS}
        onChange={({ target }) => onChange({ color: colorOf(target.value), highlight: undefined })}
      />
      {kind === 'activity' && (
        <SelectField
          label="Activity"
          value={view.color}
          options={activities.options}
          onChange={({ target }) => onChange({ color: target.value })}
        />
      )}
      <SelectField
        label="Group by"
        value={view.group}
        options={GROUPS}
        onChange={({ target }) => onChange({ group: target.value === 'none' ? undefined : target.value })}
      />
    </div>
  );
}

/** The newest activities, and the chosen one if it is older. */
function useRecentActivities(isChosen: boolean, color: string) {
  const { data } = useQuery({
    queryKey: ['activities', 'recent', RECENT],
    queryFn: async ({ signal }) =>
      (await client.GET('/activities/parents', { params: { query: { limit: RECENT } }, signal })).data.results,
  });
  const options = (data ?? []).map(({ id, summary }) => ({ value: `activity:${id}`, label: `${id} – ${summary}` }));
  const isKnown = !isChosen || options.some(({ value }) => value === color);
  return {
    newest: data?.[0]?.id ?? (isChosen ? Number(color.split(':')[1]) : null),
    options: isKnown ? options : [{ value: color, label: `Activity ${color.split(':')[1]}` }, ...options],
  };
}
