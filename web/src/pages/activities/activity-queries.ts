import type { components } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { ENDED } from './line-at.ts';

type Schemas = components['schemas'];
export type Activity = Schemas['DetailedActivity'];
export type Group = Schemas['ParentActivity'];
export type Failure = Schemas['ActivityFailure'];
export type TimelinePoint = Schemas['ActivityTimelinePoint'];

/** What has no event (a cancel, a time that has come) is looked for this often. */
const POLL_MS = 5000;
const MAX_FAILURES = 20;
const POINTS = 200;

/** An activity without the computers of a large group; null if there is none. */
export const activityQuery = (id: number) =>
  queryOptions({
    queryKey: ['activity', id],
    queryFn: async ({ signal }): Promise<Activity | null> => {
      const { data } = await client.GET('/activities', { params: { query: { query: `id:${id}` } }, signal });
      return data.results[0] ?? null;
    },
    refetchInterval: ({ state: { data } }) => (data && !ENDED.includes(data.activity_status) ? POLL_MS : false),
  });

/** The counters of a group; null for an operation. */
export const groupQuery = (id: number) =>
  queryOptions({
    queryKey: ['activity', id, 'group'],
    queryFn: async ({ signal }): Promise<Group | null> => {
      const { data } = await client.GET('/activities/parents', { params: { query: { query: `id:${id}` } }, signal });
      return data.results[0] ?? null;
    },
  });

/** How many computers had got how far at moments of an activity's life. */
export const timelineQuery = (id: number) =>
  queryOptions({
    queryKey: ['story', id, 'timeline'],
    queryFn: async ({ signal }) => {
      const params = { path: { activity_id: id }, query: { points: POINTS } };
      return (await client.GET('/activities/{activity_id}/timeline', { params, signal })).data;
    },
  });

/** The most frequent failures of an activity. */
export const failuresQuery = (id: number) =>
  queryOptions({
    queryKey: ['story', id, 'failures'],
    queryFn: async ({ signal }) => {
      const params = { path: { activity_id: id }, query: { limit: MAX_FAILURES } };
      return (await client.GET('/activities/{activity_id}/failures', { params, signal })).data;
    },
  });

/** The line of an operation in the list of its computers. */
export const ownLineQuery = (id: number) =>
  queryOptions({
    queryKey: ['activity', id, 'line'],
    queryFn: async ({ signal }) => {
      const params = { path: { activity_id: id }, query: { limit: 1 } };
      const { data } = await client.GET('/activities/{activity_id}/computers', { params, signal });
      return data.results[0] ?? null;
    },
  });

/** What the server shows of itself, such as where its Temporal UI is. */
export const serverQuery = queryOptions({
  queryKey: ['server'],
  queryFn: async ({ signal }) => (await client.GET('/server', { signal })).data,
  staleTime: Number.POSITIVE_INFINITY,
});
