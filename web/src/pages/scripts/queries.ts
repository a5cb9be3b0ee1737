import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';

/** One script with its code. */
export const scriptQuery = (id: number) =>
  queryOptions({
    queryKey: ['scripts', id],
    queryFn: async ({ signal }) => {
      const params = { path: { script_id: id } };
      return (await client.GET('/scripts/{script_id}', { params, signal })).data;
    },
  });

/** The versions of a script without their code, newest first. */
export const versionsQuery = (id: number) =>
  queryOptions({
    queryKey: ['scripts', id, 'versions'],
    queryFn: async ({ signal }) => {
      const params = { path: { script_id: id } };
      return (await client.GET('/scripts/{script_id}/versions', { params, signal })).data.results;
    },
  });

/** One version with its code, by its number. */
export const versionQuery = (id: number, number: number) =>
  queryOptions({
    queryKey: ['scripts', id, 'versions', number],
    queryFn: async ({ signal }) => {
      const params = { path: { script_id: id, script_version_id: number } };
      return (await client.GET('/scripts/{script_id}/versions/{script_version_id}', { params, signal })).data;
    },
    enabled: number > 0,
  });
