import type { components } from '@flotilla/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { readAll } from '../api/read-all.ts';

type Feature = components['schemas']['Feature'];

export const featuresQuery = queryOptions({
  queryKey: ['features'],
  queryFn: ({ signal }): Promise<Feature[]> => readAll(client.items('/features', { signal })),
  staleTime: 5 * 60_000,
});

/** Whether the server sends mail; undefined until it is known. */
export function useSendsMail(): boolean | undefined {
  const { data } = useQuery(featuresQuery);
  return data?.some(({ key, enabled }) => key === 'mail' && enabled);
}
