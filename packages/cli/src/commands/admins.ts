import type { Command } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { parseId } from '../options.ts';
import type { Columns } from '../output/output.ts';

const COLUMNS: Columns<components['schemas']['Administrator']> = {
  id: (person) => person.id,
  name: (person) => person.name,
  email: (person) => person.email,
  roles: (person) => person.roles,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list administrators')
    .action(async () => cli.output.rows((await cli.client()).items('/administrators', {}), COLUMNS));
  command
    .command('set-roles')
    .description('replace the roles of an administrator')
    .argument('<person>', 'id of the person', parseId)
    .argument('<roles...>', 'names of all roles that the person has from now on')
    .action(async (person_id, roles) => {
      const client = await cli.client();
      const params = { path: { person_id } };
      await cli.output.item(
        (await client.PUT('/administrators/{person_id}', { params, body: { roles } })).data,
        COLUMNS,
      );
    });
  command
    .command('remove')
    .description('end the membership of an administrator')
    .argument('<person>', 'id of the person', parseId)
    .action(async (person_id) => {
      await (await cli.client()).DELETE('/administrators/{person_id}', { params: { path: { person_id } } });
      cli.output.note(`Person ${person_id} is no longer an administrator.`);
    });
}
