import type { Command } from '@commander-js/extra-typings';
import type { components, FlotillaClient } from '@flotilla/client';
import { act, startEach } from '../act.ts';
import type { Cli } from '../cli.ts';
import { CliError, EXIT } from '../errors.ts';
import { actionCommand, deliveryOf, parseId } from '../options.ts';
import type { Columns } from '../output/output.ts';
import type { Target } from '../targets.ts';

type Kernels = components['schemas']['KernelListing'];

const FIELDS: Columns<Kernels> = {
  installed: ({ installed }) => installed && `${installed.name} ${installed.version}`,
  status: ({ smart_status }) => smart_status,
  upgrades: ({ upgrades }) => upgrades.map(({ version }) => version),
  downgrades: ({ downgrades }) => downgrades.map(({ version }) => version),
  message: ({ message }) => message,
};

const CHANGES = {
  upgrade: { path: '/computers/{computer_id}/kernel/upgrade', choices: 'upgrades', what: 'Upgrade the kernel' },
  downgrade: { path: '/computers/{computer_id}/kernel/downgrade', choices: 'downgrades', what: 'Downgrade the kernel' },
} as const;

export function register(command: Command, cli: Cli): void {
  command
    .command('show')
    .description('show the kernel of a computer and what it can change to')
    .argument('<computer>', 'its id', parseId)
    .action(async (id) => cli.output.item(await readKernels(await cli.client(), id), FIELDS));
  for (const [name, { path, choices, what }] of Object.entries(CHANGES)) {
    actionCommand(command, name)
      .description(`${name} the kernel to the newest version on offer`)
      .option('--kernel-version <version>', `this version; "flotilla kernel show" lists the ${choices}`)
      .option('--reboot', 'restart once the change has succeeded')
      .action((options) =>
        act(cli, options, what, async function* (client, targets, signal) {
          const chosen = await choosePackages(client, targets, choices, options.kernelVersion, signal);
          yield* startEach(chosen, signal, ([id, kernel_package_id]) => {
            const body = { kernel_package_id, reboot_after: options.reboot ?? false, ...deliveryOf(options) };
            return client.POST(path, { params: { path: { computer_id: id } }, body });
          });
        }),
      );
  }
}

async function readKernels(client: FlotillaClient, id: number, signal?: AbortSignal): Promise<Kernels> {
  const init = { params: { path: { computer_id: id } }, ...(signal && { signal }) };
  return (await client.GET('/computers/{computer_id}/hotpatch/kernel', init)).data;
}

/** A kernel package for each computer. @throws {CliError} before anything is done, when one of them has none */
async function choosePackages(
  client: FlotillaClient,
  targets: readonly Target[],
  choices: 'upgrades' | 'downgrades',
  version: string | undefined,
  signal: AbortSignal,
): Promise<Array<[computerId: number, packageId: number]>> {
  const chosen: Array<[number, number]> = [];
  const without: string[] = [];
  for (const { id, title } of targets) {
    const kernels = (await readKernels(client, id, signal))[choices];
    const kernel = version === undefined ? kernels[0] : kernels.find((one) => one.version === version);
    if (kernel) chosen.push([id, kernel.id]);
    else without.push(`${title} (id ${id})`);
  }
  if (without.length > 0) {
    const wanted = version === undefined ? `no ${choices}` : `${version} is not among the ${choices}`;
    throw new CliError(EXIT.refused, `Nothing was done. ${wanted} on ${without.join(', ')}`);
  }
  return chosen;
}
