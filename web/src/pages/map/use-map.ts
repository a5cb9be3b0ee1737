import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { client } from '../../api/client.ts';
import { useLive } from '../../live/live.tsx';
import { both, NOTHING, queryOfIds, type Stale, staleBy } from './live-map.ts';
import type { ComputerMap } from './looks.ts';
import { type MapData, patched, toMapData } from './map-data.ts';

export const GROUPINGS = ['none', 'access_group', 'tag'] as const;

export interface MapView {
  query: string;
  color: string;
  group: (typeof GROUPINGS)[number];
}

/** What has no event, such as the time since the last contact, is read this often. */
const REFRESH_MS = 30_000;
const PAUSE_AFTER_ALL_MS = 1000;
const PAUSE_AFTER_SOME_MS = 200;

const keyOf = ({ query, color, group }: MapView) => ['map', query, color, group];

/** The map of a view, kept up to date. */
export function useMap(view: MapView) {
  const queryClient = useQueryClient();
  const { query, color, group } = view;
  const refresh = useMemo(
    () => createRefresh((stale) => readAgain(queryClient, { query, color, group }, stale)),
    [queryClient, query, color, group],
  );
  useEffect(() => {
    refresh.start();
    return refresh.stop;
  }, [refresh]);
  useLive((event) => refresh.add(staleBy(event, color, query)));
  return useQuery({
    queryKey: keyOf(view),
    queryFn: async ({ signal }): Promise<MapData> =>
      toMapData(color, await readMap(view, signal), queryClient.getQueryData(keyOf(view))),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    staleTime: 0,
    structuralSharing: false,
  });
}

/** With the same computers as the list. */
async function readMap({ query, color, group }: MapView, signal?: AbortSignal): Promise<ComputerMap> {
  const params = { query: { query, color, group, root_only: false } };
  return (await client.GET('/computers/map', { params, ...(signal && { signal }) })).data;
}

async function readAgain(queryClient: QueryClient, view: MapView, stale: Stale): Promise<void> {
  const queryKey = keyOf(view);
  const ids = stale === 'all' ? null : [...stale];
  if (ids !== null && queryClient.getQueryData(queryKey) !== undefined) {
    const read = await readMap({ ...view, query: queryOfIds(view.query, ids), group: 'none' });
    const data = queryClient.getQueryData<MapData>(queryKey);
    const next = data && patched(data, ids, read);
    if (next) return void queryClient.setQueryData(queryKey, next);
  }
  await queryClient.refetchQueries({ queryKey, exact: true });
}

/** Reads what events have made stale: at once after a quiet time, then together with what comes meanwhile. */
function createRefresh(read: (stale: Stale) => Promise<void>) {
  let waiting = NOTHING;
  let isBusy = false;
  let isStopped = true;
  async function run(): Promise<void> {
    isBusy = true;
    while (!isStopped && isSome(waiting)) {
      const stale = waiting;
      waiting = NOTHING;
      // What fails now is read with everything else later.
      await read(stale).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, stale === 'all' ? PAUSE_AFTER_ALL_MS : PAUSE_AFTER_SOME_MS));
    }
    isBusy = false;
  }
  return {
    add(stale: Stale) {
      waiting = both(waiting, stale);
      if (!isBusy && !isStopped && isSome(waiting)) void run();
    },
    start() {
      isStopped = false;
    },
    stop() {
      isStopped = true;
    },
  };
}

function isSome(stale: Stale): boolean {
  return stale === 'all' || stale.size > 0;
}
