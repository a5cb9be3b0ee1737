import type { BObject } from '../../../src/protocol/bpickle.ts';
import { ESSENTIAL } from '../catalogue/package-table.ts';
import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';
import type { Machine } from '../inventory/machine.ts';
import type { Operation, OperationContext, Outcome } from './operation.ts';
import { type Complement, missingCompanions, type PackageChange } from './package-solver.ts';

/** Result codes of `change-packages-result`. @see docs/agent-protocol.md#package-changes */
const CODE = { succeeded: 1, failed: 100, incomplete: 101 } as const;

/** What the agent may change beside the listed packages. */
const POLICY = { installs: 1, all: 2 } as const;

/** How long the agent waits for ids that it does not know. */
const UNKNOWN_ID_MS = 70 * 60_000;

export const changePackages: Operation = (message, { machine, packageIds }) => {
  const { catalogue } = machine.blueprint;
  if (!catalogue) return { results: [resultOf(message, CODE.failed, 'no package manager here')] };
  const read = (name: string): (CataloguePackage | null)[] => listOf(message, name, catalogue, packageIds);
  const lists = { install: read('install'), remove: read('remove'), hold: read('hold'), release: read('remove-hold') };
  if (Object.values(lists).some((list) => list.includes(null))) {
    return { results: [resultOf(message, CODE.failed, 'unknown package ids')], extraMs: UNKNOWN_ID_MS };
  }
  const change = changeOf(lists as Record<keyof typeof lists, CataloguePackage[]>, message, machine, catalogue);
  const conflict = findConflict(change, machine);
  if (conflict) return { results: [resultOf(message, CODE.failed, conflict)] };
  const complement = missingCompanions(catalogue, machine.installed, change);
  const toIds = (entries: readonly CataloguePackage[]): number[] => entries.map((entry) => packageIds[entry.index]!);
  const extra = extraIds(complement, toIds);
  if (!mayComplement(message['policy'], complement)) {
    return { results: [{ ...resultOf(message, CODE.incomplete), ...extra }] };
  }
  const full = {
    ...change,
    install: [...change.install, ...complement.install],
    remove: [...change.remove, ...complement.remove],
  };
  return {
    ...apply(message, machine, full),
    results: [{ ...resultOf(message, CODE.succeeded, logOf(full)), ...extra }],
  };
};

export function failedPackageChange(message: BObject): Outcome {
  return { results: [resultOf(message, CODE.failed, 'E: dpkg was interrupted (simulated failure)\n')] };
}

function resultOf(message: BObject, code: number, text?: string): BObject {
  const id = message['operation-id']!;
  const result: BObject = { type: 'change-packages-result', 'operation-id': id, 'result-code': code };
  if (text !== undefined) result['result-text'] = text;
  return result;
}

function listOf(
  message: BObject,
  name: string,
  catalogue: Catalogue,
  packageIds: OperationContext['packageIds'],
): (CataloguePackage | null)[] {
  const ids = message[name];
  if (!Array.isArray(ids)) return [];
  return ids.map((id) => (Number(id) > 0 ? (catalogue.packages[packageIds.indexOf(Number(id))] ?? null) : null));
}

function changeOf(
  lists: Record<'install' | 'remove' | 'hold' | 'release', CataloguePackage[]>,
  message: BObject,
  machine: Machine,
  catalogue: Catalogue,
): PackageChange {
  const installed = new Set(machine.installed);
  const change = {
    install: lists.install.filter((entry) => !installed.has(entry.index)),
    remove: lists.remove.filter((entry) => installed.has(entry.index)),
    hold: lists.hold,
    release: lists.release,
  };
  if (message['upgrade-all'] !== true) return change;
  const upgradable = [...installed]
    .map((index) => catalogue.packages[index]!)
    .filter((entry) => catalogue.byName.get(entry.name)!.at(-1) !== entry && !machine.held.includes(entry.index));
  return {
    ...change,
    install: [...change.install, ...upgradable.map((entry) => catalogue.byName.get(entry.name)!.at(-1)!)],
    remove: [...change.remove, ...upgradable],
  };
}

function findConflict({ install, remove, hold }: PackageChange, machine: Machine): string | null {
  const replaced = new Set(install.map((entry) => entry.name));
  const lost = remove.find((entry) => ESSENTIAL.has(entry.name) && !replaced.has(entry.name));
  if (lost) return `E: Essential package would be removed: ${lost.name}\n`;
  const locked = [...install, ...remove].find(({ name }) =>
    machine.held.some((index) => machine.blueprint.catalogue!.packages[index]!.name === name),
  );
  if (locked) return `E: Held package would be changed: ${locked.name}\n`;
  const absent = hold.find((entry) => !machine.installed.includes(entry.index));
  return absent ? `Cannot hold ${absent.name}: it is not installed\n` : null;
}

function mayComplement(policy: unknown, { install, remove }: Complement): boolean {
  if (install.length + remove.length === 0 || policy === POLICY.all) return true;
  return policy === POLICY.installs && remove.length === 0;
}

function extraIds(complement: Complement, toIds: (entries: readonly CataloguePackage[]) => number[]): BObject {
  return {
    ...(complement.install.length > 0 ? { 'must-install': toIds(complement.install) } : {}),
    ...(complement.remove.length > 0 ? { 'must-remove': toIds(complement.remove) } : {}),
  };
}

function apply(message: BObject, machine: Machine, change: PackageChange): Omit<Outcome, 'results'> {
  const installed = new Set(machine.installed);
  for (const entry of change.remove) installed.delete(entry.index);
  for (const entry of change.install) installed.add(entry.index);
  machine.changes.installed = [...installed].sort((a, b) => a - b);
  const held = new Set([...machine.held, ...change.hold.map((entry) => entry.index)]);
  for (const entry of change.release) held.delete(entry.index);
  machine.changes.held = [...held].filter((index) => installed.has(index)).sort((a, b) => a - b);
  const kernels = change.install.filter((entry) => entry.audience === 'kernel');
  if (kernels.length > 0) machine.needReboot([...kernels.map((entry) => entry.name), 'linux-base']);
  const reboot = message['reboot-if-necessary'] === true && machine.rebootPackages.length > 0;
  return {
    packages: true,
    facts: kernels.length > 0 ? ['reboot-required-info', 'ubuntu-pro-reboot-required'] : [],
    ...(reboot ? { power: 'reboot' as const } : {}),
  };
}

function logOf({ install, remove, hold, release }: PackageChange): string {
  const lines = [
    ...install.map(({ name, version }) => `Unpacking ${name} (${version}) ...\nSetting up ${name} (${version}) ...`),
    ...remove
      .filter(({ name }) => !install.some((entry) => entry.name === name))
      .map(({ name, version }) => `Removing ${name} (${version}) ...`),
    ...hold.map(({ name }) => `${name} set on hold.`),
    ...release.map(({ name }) => `Canceled hold on ${name}.`),
  ];
  return lines.length > 0 ? `${lines.join('\n')}\n` : 'No changes required; all changes already performed\n';
}
