import type { Command } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['AccessGroup']> = {
  name: (group) => group.name,
  title: (group) => group.title,
  parent: (group) => group.parent,
  children: (group) => group.children,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list access groups')
    .action(async () => cli.output.rows((await cli.client()).items('/access-groups', {}), COLUMNS));
  command
    .command('create')
    .description('create an access group')
    .argument('<title>', 'its title, from which its name is derived')
    .option('--parent <name>', 'otherwise global')
    .action(async (title, { parent }) => {
      const client = await cli.client();
      await cli.output.item((await client.POST('/access-groups', { body: { title, parent } })).data, COLUMNS);
    });
  command
    .command('rename')
    .description('change the title of an access group')
    .argument('<name>', 'its name, which stays')
    .argument('<title>', 'its new title')
    .action(async (access_group_name, title) => {
      const client = await cli.client();
      const request = { params: { path: { access_group_name } }, body: { title } };
      await cli.output.item((await client.PATCH('/access-groups/{access_group_name}', request)).data, COLUMNS);
    });
  command
    .command('remove')
    .description('remove an access group; what is in it moves to its parent')
    .argument('<name>', 'its name')
    .action(async (access_group_name) => {
      const client = await cli.client();
      const params = { path: { access_group_name } };
      const { data } = await client.DELETE('/access-groups/{access_group_name}', { params });
      cli.output.note(`The access group ${access_group_name} is removed; what was in it is in ${data.name}.`);
    });
}
