import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useDebounced } from '../../ui/use-debounced.ts';
import { Swatch } from './legend.tsx';
import type { Look } from './looks.ts';
import type { MapData } from './map-data.ts';
import { nameOf } from './stage.ts';

/** A pointer that crosses the map reads nothing. */
const PAUSE_MS = 120;

/** Names the computer under the pointer or the keyboard's cursor, also for screen readers. */
export function CellStatus({ data, looks, cell }: { data: MapData; looks: readonly Look[]; cell: number | null }) {
  const debounced = useDebounced(cell, PAUSE_MS);
  const id = debounced === null ? undefined : data.ids[debounced];
  const title = useTitle(id);
  return (
    <div role="status" aria-label="Computer" className="map-cell">
      {debounced === null || id === undefined ? (
        <span className="quiet">Point at a cell to see which computer it is.</span>
      ) : (
        <>
          <Link
            to="/computers/$computerId"
            params={{ computerId: String(id) }}
            title={title}
            className="map-cell-title"
          >
            <bdi>{title ?? `Computer ${id}`}</bdi>
          </Link>
          <span className="map-cell-state">
            <Swatch look={looks[data.values[debounced]!]!} />
            {data.legend[data.values[debounced]!]!.label}
          </span>
          {data.groups.length > 1 && (
            <bdi className="quiet map-cell-group">{nameOf(data.groups[groupOf(data, debounced)]!)}</bdi>
          )}
        </>
      )}
    </div>
  );
}

function useTitle(id: number | undefined): string | undefined {
  return useQuery({
    queryKey: ['computer', id, 'title'],
    queryFn: async ({ signal }) =>
      (await client.GET('/computers/{computer_id}', { params: { path: { computer_id: id! } }, signal })).data.title,
    enabled: id !== undefined,
  }).data;
}

function groupOf({ groups }: MapData, cell: number): number {
  let end = 0;
  return groups.findIndex(({ cells }) => {
    end += cells;
    return cell < end;
  });
}
