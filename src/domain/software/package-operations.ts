import type { PackageVersion } from './package-changes.ts';
import { type OperationDraft, powerOperation } from '../activities/machine-operations.ts';

const KERNEL_ACTIONS = ['upgrade', 'downgrade'] as const;

export type KernelAction = (typeof KERNEL_ACTIONS)[number];

const PACKAGE_ACTIONS = ['install', 'remove', 'upgrade', 'downgrade', 'hold', 'unhold'] as const;

export type PackageAction = (typeof PACKAGE_ACTIONS)[number];

/** Dependencies may change further packages. @see docs/agent-protocol.md#package-changes */
const POLICY_ALL = 2;

export const PACKAGE_OPERATION_TYPES = [
  'ChangePackagesRequest',
  'UpgradeKernelPackageRequest',
  'DowngradeKernelPackageRequest',
] as const;

/** @see docs/api-conventions.md#types-and-summaries */
export function kernelGroupSummary(action: KernelAction): string {
  return `${capital(action)} kernel package`;
}

/** The packages and then, on success, the restart: an agent that restarts by itself may not report. */
export function kernelOperations(
  action: KernelAction,
  change: { install: PackageVersion; remove: PackageVersion },
  rebootAfter: boolean,
): Array<OperationDraft & { after: number | null }> {
  const { install, remove } = change;
  const kernel = {
    type: action === 'upgrade' ? 'UpgradeKernelPackageRequest' : 'DowngradeKernelPackageRequest',
    summary: `${capital(action)} kernel package ${install.name} to ${install.version}`,
    message: { type: 'change-packages', fields: { install: [install.id], remove: [remove.id], policy: POLICY_ALL } },
    after: null,
  };
  return rebootAfter ? [kernel, { ...powerOperation('restart'), after: 0 }] : [kernel];
}

const SHOWN_NAMES = 3;

/** For example "Install packages curl 8.5.0-2, jq 1.7-1". Names only where versions differ between computers. */
export function packageSummary(action: PackageAction, packages: ReadonlyArray<PackageVersion | string>): string {
  const names = packages
    .slice(0, SHOWN_NAMES)
    .map((entry) => (typeof entry === 'string' ? entry : `${entry.name} ${entry.version}`));
  const more = packages.length > SHOWN_NAMES ? ` and ${packages.length - SHOWN_NAMES} more` : '';
  return `${capital(action)} package${packages.length === 1 ? '' : 's'} ${names.join(', ')}${more}`;
}

/** Changes packages; the computer determines and reports which versions are replaced. */
export function packageOperation(action: PackageAction, packages: readonly PackageVersion[]): OperationDraft {
  const ids = packages.map(({ id }) => id);
  return {
    type: 'ChangePackagesRequest',
    summary: packageSummary(action, packages),
    message: { type: 'change-packages', fields: { [FIELDS[action]]: ids, policy: POLICY_ALL } },
  };
}

const FIELDS: Readonly<Record<PackageAction, string>> = {
  install: 'install',
  upgrade: 'install',
  downgrade: 'install',
  remove: 'remove',
  hold: 'hold',
  unhold: 'remove-hold',
};

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
