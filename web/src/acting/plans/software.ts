import type { components } from '@flotilla/client';
import { deliveryOf, numberOr } from './delivery.ts';
import { commandOf, idsOf, namesIn, type Plan, type PlanInput, post, postEach } from './plan.ts';

type Schemas = components['schemas'];
export type SnapAction = Schemas['SnapRequest']['action'];
export type PackageAction = Schemas['PackageRequest']['action'];

export interface SnapFields {
  snaps: string;
  channel: string;
  revision: string;
  classic: boolean;
  /** End of a hold: in the person's zone in a form, in UTC in a plan; empty for none. */
  until: string;
}

export const NO_SNAPS: SnapFields = { snaps: '', channel: '', revision: '', classic: false, until: '' };

/** One request for all computers. Fields that the action does not have are not sent. */
export function planSnaps(action: SnapAction, { fields, targets, delivery, chosenBy }: PlanInput<SnapFields>): Plan {
  const [channel, revision] = [fields.channel.trim(), fields.revision.trim()];
  const hasVersion = action === 'install' || action === 'refresh';
  const entry = {
    ...(hasVersion && channel !== '' && { channel }),
    ...(hasVersion && revision !== '' && { revision }),
    ...(action === 'install' && fields.classic && { classic: true }),
    ...(action === 'hold' && fields.until !== '' && { time: fields.until }),
  };
  const names = namesIn(fields.snaps);
  const snaps = names.map((name) => ({ name, ...entry }));
  const options = [
    ...('channel' in entry ? ['--channel', channel] : []),
    ...('revision' in entry ? ['--revision', revision] : []),
    'classic' in entry && '--classic',
    ...('time' in entry ? ['--until', fields.until] : []),
    ...chosenBy,
  ];
  return {
    requests: [post('/snaps', { action, computer_ids: idsOf(targets), snaps, ...deliveryOf(delivery) })],
    command: commandOf({ name: `snaps ${action}`, args: names, options, delivery }),
  };
}

export interface PackageFields {
  packages: string;
}

/** One request for all computers; `ids` are those of the packages by their names. */
export function planPackages(
  action: PackageAction,
  ids: ReadonlyMap<string, number>,
  { fields, targets, delivery, chosenBy }: PlanInput<PackageFields>,
): Plan {
  const names = namesIn(fields.packages);
  const package_ids = names.flatMap((name) => ids.get(name) ?? []);
  return {
    requests: [post('/packages', { action, computer_ids: idsOf(targets), package_ids, ...deliveryOf(delivery) })],
    command: commandOf({ name: `packages ${action}`, args: names, options: chosenBy, delivery }),
  };
}

export interface KernelFields {
  /** Empty for the newest on offer. */
  version: string;
  restart: boolean;
}

/** A request for each computer that has such a kernel on offer; `offers` are the kernels by the id of the computer. */
export function planKernel(
  change: 'upgrade' | 'downgrade',
  offers: ReadonlyMap<number, ReadonlyArray<Schemas['KernelPackage']>>,
  { fields, targets, delivery, chosenBy }: PlanInput<KernelFields>,
): Plan {
  const chosen = new Map(targets.map(({ id }) => [id, chooseKernel(offers.get(id) ?? [], fields.version)]));
  const options = [
    ...(fields.version === '' ? [] : ['--kernel-version', fields.version]),
    fields.restart && '--reboot',
    ...chosenBy,
  ];
  return {
    requests: postEach(
      targets.filter(({ id }) => chosen.get(id)),
      (id) => `/computers/${id}/kernel/${change}`,
      ({ id }) => ({
        kernel_package_id: chosen.get(id)!.id,
        reboot_after: fields.restart,
        ...deliveryOf(delivery),
      }),
    ),
    command: commandOf({ name: `kernel ${change}`, options, delivery }),
  };
}

/** The kernel of a version among those on offer, which begin with the newest. */
export function chooseKernel(
  offers: ReadonlyArray<Schemas['KernelPackage']>,
  version: string,
): Schemas['KernelPackage'] | undefined {
  return version === '' ? offers[0] : offers.find((kernel) => kernel.version === version);
}

export interface ScriptFields {
  /** Id of the script. */
  script: string;
  username: string;
  /** Seconds. */
  timeLimit: string;
}

/** A request for each query that names the computers. */
export function planScript(queries: readonly string[], input: PlanInput<ScriptFields>): Plan {
  const { fields, delivery, chosenBy } = input;
  const username = fields.username.trim();
  const body = {
    ...(username !== '' && { username }),
    ...(fields.timeLimit !== '' && { time_limit: numberOr(fields.timeLimit) }),
    ...deliveryOf(delivery),
  };
  const options = [
    ...(username === '' ? [] : ['--username', username]),
    ...(fields.timeLimit === '' ? [] : ['--time-limit', `${fields.timeLimit}s`]),
    ...chosenBy,
  ];
  return {
    requests: queries.map((query) => post(`/scripts/${fields.script}:execute`, { query, ...body })),
    command: commandOf({ name: 'scripts run', args: [fields.script], options, delivery }),
  };
}
