import type { Command } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import { startOne } from '../act.ts';
import type { Cli } from '../cli.ts';
import { activityCommand, collectIds, parseId } from '../options.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['Process']> = {
  pid: (process) => process.pid,
  name: (process) => process.name,
  state: (process) => process.state,
  cpu_percent: (process) => process.cpu_utilisation,
  memory_kib: (process) => process.vm_size,
  started: (process) => process.start_time,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list the processes of a computer')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { computer_id: id } };
      await cli.output.rows(client.items('/computers/{computer_id}/processes', { params }), COLUMNS);
    });
  for (const [name, path, description] of [
    ['terminate', '/processes/terminate', 'request processes of a computer to end (TERM)'],
    ['kill', '/processes/kill', 'end processes of a computer at once (KILL)'],
  ] as const) {
    activityCommand(command, name)
      .description(description)
      .argument('<computer>', 'its id', parseId)
      .argument('<pids...>', 'process ids', collectIds)
      .action((computer_id, pids, options) =>
        startOne(cli, options, (client) => client.POST(path, { body: { computer_id, pids, after: options.after } })),
      );
  }
}
