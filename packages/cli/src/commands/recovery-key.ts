import type { Command } from '@commander-js/extra-typings';
import { startOne } from '../act.ts';
import type { Cli } from '../cli.ts';
import { activityCommand, parseId } from '../options.ts';

export function register(command: Command, cli: Cli): void {
  command
    .command('show')
    .description('show the recovery key of a computer, which the event log records')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { computer_id: id } };
      const { data } = await client.GET('/computers/{computer_id}/recovery-key', { params });
      await cli.output.item(data, {
        recovery_key: ({ fde_recovery_key }) => fde_recovery_key,
        latest_generation: ({ activity }) => activity && `activity ${activity.id}: ${activity.activity_status}`,
      });
    });
  activityCommand(command, 'generate')
    .description('generate a new recovery key on a computer')
    .argument('<computer>', 'its id', parseId)
    .option('--force', 'even while another generation is open')
    .action((id, options) =>
      startOne(cli, options, (client) => {
        const { force, after } = options;
        const params = { path: { computer_id: id } };
        return client.POST('/computers/{computer_id}/recovery-key:generate', { params, body: { force, after } });
      }),
    );
}
