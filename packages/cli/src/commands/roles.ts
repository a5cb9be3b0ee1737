import { type Command, Option } from '@commander-js/extra-typings';
import type { components } from '@flotilla/client';
import type { Cli } from '../cli.ts';
import { parseNames } from '../options.ts';
import type { Columns } from '../output/output.ts';

type Change = components['schemas']['RoleChange'];

const COLUMNS: Columns<components['schemas']['Role']> = {
  name: (role) => role.name,
  description: (role) => role.description,
  permissions: (role) => [...role.permissions, ...role.global_permissions],
  access_groups: (role) => role.access_groups,
  persons: (role) => role.persons,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list', { isDefault: true })
    .description('list roles')
    .action(async () => cli.output.rows((await cli.client()).items('/roles', {}), COLUMNS));
  command
    .command('permissions')
    .description('list the permissions that roles can have')
    .action(async () =>
      cli.output.rows((await cli.client()).items('/permissions', {}), {
        name: (permission) => permission.name,
        title: (permission) => permission.title,
        global: (permission) => permission.global,
      }),
    );
  roleCommand(command, 'create')
    .description('create a role')
    .action(async (name, options) => {
      const body = { name, ...changeOf(options) };
      await cli.output.item((await (await cli.client()).POST('/roles', { body })).data, COLUMNS);
    });
  roleCommand(command, 'change')
    .description('change a role for everybody who has it; what is not given stays')
    .action(async (role_name, options) => {
      const client = await cli.client();
      const request = { params: { path: { role_name } }, body: changeOf(options) };
      await cli.output.item((await client.PATCH('/roles/{role_name}', request)).data, COLUMNS);
    });
  command
    .command('remove')
    .description('remove a role from everybody who has it')
    .argument('<role>', 'its name')
    .action(async (role_name) => {
      await (await cli.client()).DELETE('/roles/{role_name}', { params: { path: { role_name } } });
      cli.output.note(`The role ${role_name} is removed.`);
    });
}

function roleCommand(group: Command, name: string) {
  const names = 'separated by commas';
  return group
    .command(name)
    .argument('<role>', 'its name')
    .option('--description <text>', 'what it is for')
    .addOption(new Option('--permissions <names>', `in the access groups, ${names}`).argParser(parseNames))
    .addOption(new Option('--global-permissions <names>', `in the whole account, ${names}`).argParser(parseNames))
    .addOption(new Option('--access-groups <names>', `where it holds, ${names}`).argParser(parseNames));
}

interface RoleOptions {
  description?: string | undefined;
  permissions?: string[] | undefined;
  globalPermissions?: string[] | undefined;
  accessGroups?: string[] | undefined;
}

/** The server knows which permissions there are. */
function changeOf({ description, permissions, globalPermissions, accessGroups }: RoleOptions): Change {
  return {
    description,
    permissions: permissions as Change['permissions'],
    global_permissions: globalPermissions as Change['global_permissions'],
    access_groups: accessGroups,
  };
}
