import type { components } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';
import { readAll } from './read-all.ts';

export type AccessGroup = components['schemas']['AccessGroup'];

/** The access groups of the account. */
export const accessGroupsQuery = queryOptions({
  queryKey: ['people', 'access-groups'],
  queryFn: ({ signal }): Promise<AccessGroup[]> => readAll(client.items('/access-groups', { signal })),
});

/** Tags that computers have. */
export const tagsQuery = queryOptions({
  queryKey: ['computers', 'tags'],
  queryFn: async ({ signal }) => (await client.GET('/tags', { signal })).data.results,
});
