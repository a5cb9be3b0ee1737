import type { Command } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { parseId } from '../options.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['Alert']> = {
  id: (alert) => alert.id,
  type: (alert) => alert.alert_type,
  status: (alert) => alert.status,
  scope: (alert) => alert.scope,
  count: (alert) => alert.count,
  since: (alert) => alert.activation_time,
  label: (alert) => alert.label,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('active', { isDefault: true })
    .description('list active alerts')
    .action(async () => {
      const { data } = await (await cli.client()).GET('/alerts/summary');
      await cli.output.rows(data.alerts_summary, {
        type: (alert) => alert.alert_type,
        summary: (alert) => alert.summary,
        since: (alert) => alert.activation_time,
      });
    });
  command
    .command('list')
    .description('list all alerts with their status')
    .action(async () => cli.output.rows((await (await cli.client()).GET('/alerts')).data, COLUMNS));
  command
    .command('dismiss')
    .description('hide an alert from yourself until it is raised again')
    .argument('<alert>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { alert_id: id } };
      await cli.output.item((await client.POST('/alerts/{alert_id}/dismiss', { params })).data, COLUMNS);
    });
}
