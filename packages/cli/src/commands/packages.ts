import type { Command } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import { act } from '../act.ts';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { actionCommand, deliveryOf, LIMIT, parseId } from '../options.ts';
import { limited } from '../output/limited.ts';
import type { Columns } from '../output/output.ts';

type ComputerPackage = components['schemas']['ComputerPackage'];

const COLUMNS: Columns<ComputerPackage> = {
  id: (one) => one.id,
  name: (one) => one.name,
  status: (one) => one.status,
  installed: (one) => one.current_version,
  available: (one) => one.available_version,
  summary: (one) => one.summary,
};

/** Names of the API's actions, and what they are called to people. */
const ACTIONS = {
  install: 'install packages, the newest version on offer',
  remove: 'remove packages',
  upgrade: 'upgrade packages',
  downgrade: 'downgrade packages to the newest older version',
  hold: 'hold packages at their version',
  unhold: 'release held packages',
} as const;

export function register(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list the packages of a computer')
    .argument('<computer>', 'its id', parseId)
    .option('--search <text>', 'part of the name or summary')
    .option('--installed', 'only installed ones')
    .option('--upgrades', 'only those with an upgrade')
    .option('--security', 'only those with a security upgrade')
    .option('--held', 'only held ones')
    .addOption(LIMIT)
    .action(async (id, { search, installed, upgrades, security, held, limit }) => {
      const client = await cli.client();
      const params = { path: { computer_id: id }, query: { search, installed, upgrade: upgrades, security, held } };
      const rows = client.items('/computers/{computer_id}/packages', { params });
      await cli.output.rows(limited(rows, limit), COLUMNS);
    });
  for (const [action, description] of Object.entries(ACTIONS) as Array<[keyof typeof ACTIONS, string]>) {
    actionCommand(command, action)
      .description(description)
      .argument('<names...>', 'names of packages')
      .action((names, options) =>
        act(
          cli,
          options,
          `${action.charAt(0).toUpperCase()}${action.slice(1)} ${names.join(', ')}`,
          async function* (client, targets) {
            const package_ids = await findPackages(client, names);
            const computer_ids = targets.map(({ id }) => id);
            yield (
              await client.POST('/packages', { body: { action, computer_ids, package_ids, ...deliveryOf(options) } })
            ).data;
          },
        ),
      );
  }
}

/** The ids of packages by name. @throws {CliError} naming those that no computer has reported */
async function findPackages(client: FlotillaClient, names: readonly string[]): Promise<number[]> {
  const ids = new Map<string, number>();
  for await (const { name, id } of client.items('/packages', { params: { query: { names: [...names] } } }))
    ids.set(name, id);
  const unknown = names.filter((name) => !ids.has(name));
  if (unknown.length > 0) {
    throw new CliError(
      EXIT.refused,
      `No computer has reported a package named ${unknown.join(', ')}; nothing was done`,
    );
  }
  return names.map((name) => ids.get(name)!);
}
