import type { components } from '@flotilla/client';
import { queryOptions } from '@tanstack/react-query';
import { client } from '../../api/client.ts';

/** A computer with what its page shows. */
export type ComputerDetail = components['schemas']['ComputerDetail'];

/** A computer with everything but its hardware, which is long. */
export const computerQuery = (id: number) =>
  queryOptions({
    queryKey: ['computer', id],
    queryFn: async ({ signal }) => {
      const query = {
        with_alerts: true,
        with_upgrades: true,
        with_release_upgrades: true,
        with_reboot_packages: true,
        with_all_network: true,
        with_annotations: true,
        with_profiles: true,
      };
      const params = { path: { computer_id: id }, query };
      return (await client.GET('/computers/{computer_id}', { params, signal })).data;
    },
  });
