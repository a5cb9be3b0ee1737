import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';

/** A computer is offline by the clock alone, which no event reports. */
const REFRESH_MS = 30_000;

/** All alerts, active or not, in the order of the API. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts', 'all'],
  queryFn: async ({ signal }) => (await client.GET('/alerts', { signal })).data,
  refetchInterval: REFRESH_MS,
});
