import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';

/** A computer is offline by the clock alone, and one that registers waits: no event reports either. */
export const REFRESH_MS = 30_000;

/** How many computers a query finds; undefined until it is known. */
export function useCount(query: string, enabled: boolean) {
  return useQuery({
    queryKey: ['computers', 'count', query],
    queryFn: async ({ signal }) => {
      const params = { query: { limit: 0, root_only: false, ...(query !== '' && { query }) } };
      return (await client.GET('/computers', { params, signal })).data.count;
    },
    enabled,
    refetchInterval: REFRESH_MS,
  });
}
