import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { readAll } from '../../api/read-all.ts';
import { featuresQuery } from '../../session/features.ts';
import { isRunOpen, isScriptRunOpen } from './open-runs.ts';
import type { ListStatus, ProfileKind } from './profile-types.ts';

/** How often an open run is read: its counts change without an event. */
export const OPEN_RUN_MS = 5000;

/** All USG profiles of a status whose titles contain a text. */
export const usgProfilesQuery = (filter: { status: ListStatus; search: string }) =>
  queryOptions({
    queryKey: ['profiles', 'usg', filter],
    queryFn: () => readAll(client.items('/usg-profiles', { params: { query: filter } })),
    refetchInterval: ({ state }) => (state.data?.some(isRunOpen) ? OPEN_RUN_MS : false),
  });

/** All script profiles of a status whose titles contain a text. */
export const scriptProfilesQuery = (filter: { status: ListStatus; search: string }) =>
  queryOptions({
    queryKey: ['profiles', 'script', filter],
    queryFn: () => readAll(client.items('/script-profiles', { params: { query: filter } })),
    refetchInterval: ({ state }) => (state.data?.some(isScriptRunOpen) ? OPEN_RUN_MS : false),
  });

/** One USG profile. */
export const usgProfileQuery = (id: number) =>
  queryOptions({
    queryKey: ['profile', 'usg', id],
    queryFn: async ({ signal }) => {
      const params = { path: { usg_profile_id: id } };
      return (await client.GET('/usg-profiles/{usg_profile_id}', { params, signal })).data;
    },
  });

/** One script profile. */
export const scriptProfileQuery = (id: number) =>
  queryOptions({
    queryKey: ['profile', 'script', id],
    queryFn: async ({ signal }) => {
      const params = { path: { script_profile_id: id } };
      return (await client.GET('/script-profiles/{script_profile_id}', { params, signal })).data;
    },
  });

/** The next dates of a profile, in UTC, with its time zone. */
export const datesQuery = (kind: ProfileKind, id: number) =>
  queryOptions({
    queryKey: ['profile', kind, id, 'dates'],
    queryFn: async ({ signal }) => {
      if (kind === 'usg') {
        const params = { path: { usg_profile_id: id } };
        return (await client.GET('/usg-profiles/{usg_profile_id}/upcoming-dates', { params, signal })).data;
      }
      const params = { path: { script_profile_id: id } };
      return (await client.GET('/script-profiles/{script_profile_id}/upcoming-dates', { params, signal })).data;
    },
  });

/** Results of audits by day. Its key begins as that of the profile, whose runs change them. */
export const complianceQuery = ({ usgProfileId, days }: { usgProfileId?: number; days: number }) =>
  queryOptions({
    queryKey: [...(usgProfileId === undefined ? ['profiles'] : ['profile', 'usg', usgProfileId]), 'compliance', days],
    queryFn: async ({ signal }) => {
      const query = { days, usg_profile_id: usgProfileId };
      return (await client.GET('/usg-profiles/compliance', { params: { query }, signal })).data.days;
    },
  });

/** Titles of all scripts, by id. */
export const scriptTitlesQuery = queryOptions({
  queryKey: ['scripts', 'titles'],
  queryFn: () => readAll(client.items('/scripts', { params: { query: { status: 'all' } } })),
  select: (scripts) => new Map(scripts.map(({ id, title }) => [id, title])),
});

/** Scripts that can be run. */
export const activeScriptsQuery = queryOptions({
  queryKey: ['scripts', 'active'],
  queryFn: () => readAll(client.items('/scripts', { params: { query: { status: 'active' } } })),
});

/** Whether this deployment has script profiles. */
export const hasScriptProfilesQuery = queryOptions({
  ...featuresQuery,
  select: (features) => features.some(({ key, enabled }) => key === 'script-profiles' && enabled),
});
