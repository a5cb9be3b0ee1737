import type { Command } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import { act } from '../act.ts';
import type { Cli } from '../cli.ts';
import { actionCommand, type DeliveryOptions, deliveryOf, parseId, parseMoment } from '../options.ts';
import type { Columns } from '../output/output.ts';
import type { Target } from '../targets.ts';

type Request = components['schemas']['SnapRequest'];

const COLUMNS: Columns<components['schemas']['InstalledSnap']> = {
  name: ({ snap }) => snap.name,
  version: ({ version }) => version,
  revision: ({ revision }) => revision,
  channel: ({ tracking_channel }) => tracking_channel,
  held_until: ({ held_until }) => held_until,
  publisher: ({ snap }) => snap.publisher.username,
};

export function register(command: Command, cli: Cli): void {
  command
    .command('list')
    .description('list the snaps of a computer')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => {
      const client = await cli.client();
      const params = { path: { computer_id: id } };
      await cli.output.rows(client.items('/computers/{computer_id}/snaps/installed', { params }), COLUMNS);
    });
  snapCommand(command, 'install', 'install snaps')
    .option('--channel <channel>', 'such as latest/stable')
    .option('--revision <revision>', 'such as 29619')
    .option('--classic', 'without confinement')
    .action((names, options) => actOnSnaps(cli, 'install', names, options, options));
  snapCommand(command, 'remove', 'remove snaps').action((names, options) => actOnSnaps(cli, 'remove', names, options));
  snapCommand(command, 'refresh', 'update snaps, or switch their channel')
    .option('--channel <channel>', 'such as latest/stable')
    .option('--revision <revision>', 'such as 29619')
    .action((names, options) => actOnSnaps(cli, 'refresh', names, options, options));
  snapCommand(command, 'hold', 'hold updates of snaps')
    .option('--until <time>', 'ISO 8601, or from now, such as 7d; otherwise forever', parseMoment)
    .action((names, options) => actOnSnaps(cli, 'hold', names, options, { time: options.until }));
  snapCommand(command, 'unhold', 'release held snaps').action((names, options) =>
    actOnSnaps(cli, 'unhold', names, options),
  );
}

function snapCommand(group: Command, name: string, description: string) {
  return actionCommand(group, name).description(description).argument('<names...>', 'names of snaps');
}

interface SnapOptions {
  channel?: string | undefined;
  revision?: string | undefined;
  classic?: true | undefined;
  time?: string | undefined;
}

async function actOnSnaps(
  cli: Cli,
  action: Request['action'],
  names: readonly string[],
  options: Parameters<typeof act>[1] & DeliveryOptions,
  { channel, revision, classic, time }: SnapOptions = {},
): Promise<void> {
  const snaps = names.map((name) => ({ name, channel, revision, classic, time }));
  const what = `${action.charAt(0).toUpperCase()}${action.slice(1)} ${names.join(', ')}`;
  await act(cli, options, what, async function* (client: FlotillaClient, targets: Target[]) {
    const body = { action, computer_ids: targets.map(({ id }) => id), snaps, ...deliveryOf(options) };
    yield (await client.POST('/snaps', { body })).data;
  });
}
