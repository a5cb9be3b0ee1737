import { type Command, Argument } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { collectIds } from '../options.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['PendingComputer']> = {
  id: (computer) => computer.id,
  title: (computer) => computer.title,
  hostname: (computer) => computer.hostname,
  access_group: (computer) => computer.access_group,
  tags: (computer) => computer.client_tags,
  created: (computer) => computer.creation_time,
};

const IDS = new Argument('<computers...>', 'their ids').argParser(collectIds);

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list computers that wait to be accepted')
    .action(async () => cli.output.rows((await cli.client()).items('/pending-computers', {}), COLUMNS));
  command
    .command('accept')
    .description('accept computers')
    .addArgument(IDS)
    .option('--access-group <name>', 'where they go; otherwise the one that they requested')
    .action(async (ids, { accessGroup }) => {
      const client = await cli.client();
      const body = { computer_ids: ids, ...(accessGroup === undefined ? {} : { access_group: accessGroup }) };
      const { data } = await client.POST('/pending-computers:accept', { body });
      await cli.output.ids(data);
    });
  command
    .command('reject')
    .description('reject computers, which may register again')
    .addArgument(IDS)
    .action(async (ids) => {
      const client = await cli.client();
      const { data } = await client.POST('/pending-computers:reject', { body: { computer_ids: ids } });
      await cli.output.ids(data);
    });
}
