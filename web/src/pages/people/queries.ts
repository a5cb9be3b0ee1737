import type { components } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { readAll } from '../../api/read-all.ts';

export type Administrator = components['schemas']['Administrator'];
export type Role = components['schemas']['Role'];
export type Invitation = components['schemas']['Invitation'];
export type Credential = components['schemas']['Credential'];
type Permission = components['schemas']['Permission'];

/** The role that has every permission, which nobody can change. */
export const FULL_ROLE = 'GlobalAdmin';

export const rolesQuery = queryOptions({
  queryKey: ['people', 'roles'],
  queryFn: ({ signal }): Promise<Role[]> => readAll(client.items('/roles', { signal })),
});

export const permissionListQuery = queryOptions({
  queryKey: ['people', 'permissions'],
  queryFn: ({ signal }): Promise<Permission[]> => readAll(client.items('/permissions', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Their secure ids give access to the account, so they are forgotten with the view that shows them. */
export const invitationsQuery = queryOptions({
  queryKey: ['people', 'invitations'],
  queryFn: ({ signal }): Promise<Invitation[]> => readAll(client.items('/invitations', { signal })),
  gcTime: 0,
});

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: async ({ signal }): Promise<Credential[]> => {
    const { credentials } = (await client.GET('/credentials', { signal })).data;
    return credentials.filter(({ access_key }) => access_key !== null);
  },
});
