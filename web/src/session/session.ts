import type { components } from '@flotilla/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { zoneOf } from '../ui/times/zone.ts';
import type { Permission } from './permission.ts';

export type { Permission } from './permission.ts';

export type Person = components['schemas']['Person'];
type LoginMethods = components['schemas']['LoginMethods'];

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => (await client.GET('/me', { signal })).data,
  staleTime: 5 * 60_000,
});

/** The person's own settings. */
export const personQuery = queryOptions({
  queryKey: ['me', 'person'],
  queryFn: async ({ signal }): Promise<Person> => (await client.GET('/person', { signal })).data,
  staleTime: 5 * 60_000,
});

/** The time zone in which the person reads times: the one of their settings, otherwise the browser's. */
export function usePersonZone(): string {
  return zoneOf(useQuery(personQuery).data?.timezone);
}

/** The person of this session and their accounts. */
export function useMe() {
  return useQuery(meQuery).data;
}

export const permissionsQuery = queryOptions({
  queryKey: ['me', 'permissions'],
  queryFn: async ({ signal }) => (await client.GET('/me/permissions', { signal })).data,
  staleTime: 5 * 60_000,
});

/**
 * A function that says whether the person has a permission, in the given access group or in any. False until the permissions
 * are known, so that no button appears and vanishes.
 */
export function useCan(): (permission: Permission, accessGroup?: string) => boolean {
  const { data } = useQuery(permissionsQuery);
  return (permission, accessGroup) => {
    if (!data) return false;
    if (data.global_permissions.some((name) => name === permission)) return true;
    const groups = data.permissions.find(({ name }) => name === permission)?.access_groups ?? [];
    return accessGroup === undefined ? groups.length > 0 : groups.includes(accessGroup);
  };
}

/** Starts a session whose token only the browser has. @throws {ApiError} */
export async function signIn(fields: { name: string; byIdentity: boolean; password: string; invitationId?: string }) {
  const { name, byIdentity, password, invitationId } = fields;
  const body = {
    ...(byIdentity ? { identity: name } : { email: name }),
    ...(invitationId !== undefined && { invitation_id: invitationId }),
    password,
    session: 'cookie',
  };
  await client.request('POST', '/login', { body });
}

/** Ends the session here and on the server. @throws {ApiError} */
export async function signOut(): Promise<void> {
  await client.POST('/logout');
}

export const loginMethodsQuery = queryOptions({
  queryKey: ['login-methods'],
  queryFn: async ({ signal }): Promise<LoginMethods> => (await client.GET('/login/methods', { signal })).data,
});
