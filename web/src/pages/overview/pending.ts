import type { components } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { REFRESH_MS } from './use-count.ts';

export type PendingComputer = components['schemas']['PendingComputer'];

/** Computers that have registered and wait for a decision: as many as one page has. */
export const pendingQuery = queryOptions({
  queryKey: ['pending-computers', 'overview'],
  queryFn: async ({ signal }) => (await client.GET('/pending-computers', { signal })).data,
  refetchInterval: REFRESH_MS,
});
