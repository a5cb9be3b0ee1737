import { Link } from '@tanstack/react-router';
import type { countValues, MapData } from './map-data.ts';
import { nameOf } from './stage.ts';
import type { MapView } from './use-map.ts';

const MAX_ROWS = 200;

interface GroupTableProps {
  data: MapData;
  counts: ReturnType<typeof countValues>;
  group: MapView['group'];
}

/** The map in numbers: how many computers of each group have each value. */
export function GroupTable({ data, counts, group }: GroupTableProps) {
  const rows = group === 'none' ? [] : data.groups.slice(0, MAX_ROWS);
  const left = group === 'none' ? 0 : data.groups.length - rows.length;
  return (
    <details className="map-numbers">
      <summary>In numbers</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys */}
      <section className="map-numbers-scroller" tabIndex={0} aria-label="The map in numbers">
        <table>
          <thead>
            <tr>
              <th scope="col">{group === 'tag' ? 'Tag' : 'Access group'}</th>
              {data.legend.map(({ name, label }) => (
                <th key={name} scope="col" className="map-count">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={row.name ?? ''}>
                <th scope="row">
                  <GroupLink row={row} group={group} />
                </th>
                <Counts legend={data.legend} counts={counts.groups[index]!} />
              </tr>
            ))}
            <tr>
              <th scope="row">All</th>
              <Counts legend={data.legend} counts={counts.all} />
            </tr>
          </tbody>
        </table>
      </section>
      {left > 0 && <p className="quiet">{left.toLocaleString()} more groups are on the map only.</p>}
    </details>
  );
}

function Counts({ legend, counts }: { legend: MapData['legend']; counts: readonly number[] }) {
  return legend.map(({ name }, value) => (
    <td key={name} className="map-count">
      {counts[value]!.toLocaleString()}
    </td>
  ));
}

const SELECTORS = { access_group: 'access-group', tag: 'tag' } as const;

/** Leads to the computers of a group, if a query can name it. */
function GroupLink({ row, group }: { row: MapData['groups'][number]; group: MapView['group'] }) {
  const title = nameOf(row);
  if (row.name === null || group === 'none' || row.name.includes('"')) return <bdi title={title}>{title}</bdi>;
  return (
    <Link to="/computers" search={{ query: `${SELECTORS[group]}:"${row.name}"` }} title={title}>
      <bdi>{title}</bdi>
    </Link>
  );
}
