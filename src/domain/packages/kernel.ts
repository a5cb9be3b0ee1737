import { compareVersions } from './debian-version.ts';
import type { PackageVersion } from './package-changes.ts';

/** @see api-decisions 9.3 */
export const SMART_STATUSES = [
  'Hotpatch disabled',
  'Restart required',
  'End of life',
  'Kernel upgrade available',
  'Fully patched',
  'Waiting for status',
] as const;

export type SmartStatus = (typeof SMART_STATUSES)[number];

/** A kernel package that a computer has or could have. */
export interface ReportedKernel extends PackageVersion {
  installed: boolean;
  /** On offer in the archives of the computer. */
  available: boolean;
}

/** What a computer says about hot patches and restarts, as reported; null where nothing was. */
export interface HotpatchReports {
  hotpatchInfo: unknown;
  serviceInfo: unknown;
  rebootRequiredInfo: unknown;
  rebootRequired: boolean;
}

export interface KernelChoices<K extends ReportedKernel = ReportedKernel> {
  /** Null when nothing was reported or no kernel package is installed. */
  installed: K | null;
  /** Newest first. */
  upgrades: K[];
  /** Newest first. */
  downgrades: K[];
}

/**
 * Picks the kernel package of a computer, and the versions it could be changed to.
 *
 * @param kernels - versions of kernel meta packages; of several that are installed the one of the running kernel's
 * flavour counts, else the first by name
 * @see agent-protocol 8, "Packages"
 */
export function kernelChoices<K extends ReportedKernel>(
  kernels: readonly K[],
  reports: HotpatchReports,
): KernelChoices<K> {
  const newestFirst = [...kernels].sort((a, b) => compareVersions(b.version, a.version));
  const candidates = newestFirst
    .filter((kernel) => kernel.installed)
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const flavour = runningFlavour(reports);
  const installed =
    candidates.find(({ name }) => flavour !== null && isOfFlavour(name, flavour)) ?? candidates[0] ?? null;
  if (!installed) return { installed: null, upgrades: [], downgrades: [] };
  const others = newestFirst.filter(({ name, available }) => name === installed.name && available);
  return {
    installed,
    upgrades: others.filter(({ version }) => compareVersions(version, installed.version) > 0),
    downgrades: others.filter(({ version }) => compareVersions(version, installed.version) < 0),
  };
}

/** The first status that holds, in the order of {@link SMART_STATUSES}; without data the last. */
export function smartStatus(choices: KernelChoices, reports: HotpatchReports): SmartStatus {
  if (!choices.installed) return 'Waiting for status';
  const running = runningPatch(reports);
  if (isDisabled(reports)) return 'Hotpatch disabled';
  if (needsRestart(reports)) return 'Restart required';
  if (isEndOfLife(running)) return 'End of life';
  if (choices.upgrades.length > 0) return 'Kernel upgrade available';
  return isPatched(running) ? 'Fully patched' : 'Waiting for status';
}

type Dict = Record<string, unknown>;

/** Reports are the text of other tools: anything can be missing or of another shape. */
function dict(value: unknown): Dict {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {};
}

/** The patch tool calls its patches by either name. */
function either(object: Dict, name: string): unknown {
  return object[name] ?? object[name.replace('Hotpatch', 'Livepatch').replace('hotpatch', 'livepatch')];
}

function structured({ hotpatchInfo }: HotpatchReports): Dict {
  return dict(dict(hotpatchInfo)['json']);
}

/** The running kernel's entry of the structured report; empty without one. */
function runningPatch(reports: HotpatchReports): Dict {
  const entries = dict(structured(reports)['output'])['Status'];
  const list = Array.isArray(entries) ? entries.map(dict) : [];
  return list.find((entry) => entry['Running'] === true) ?? list[0] ?? {};
}

function runningFlavour(reports: HotpatchReports): string | null {
  return /-([a-z][a-z0-9-]*)$/.exec(String(runningPatch(reports)['Kernel'] ?? ''))?.[1] ?? null;
}

function isOfFlavour(name: string, flavour: string): boolean {
  return name === `linux-image-${flavour}` || name.startsWith(`linux-image-${flavour}-`);
}

/** Said by the service, by the tool that is missing or fails, or by the Pro tool; silence says nothing. */
function isDisabled(reports: HotpatchReports): boolean {
  const service = dict(reports.serviceInfo)['status'];
  const code = structured(reports)['return_code'];
  const enabled = either(dict(dict(reports.rebootRequiredInfo)['output']), 'hotpatch_enabled');
  if (typeof service === 'string' && service !== 'enabled' && service !== 'warning') return true;
  return (typeof code === 'number' && code !== 0) || (service === undefined && enabled === false);
}

function needsRestart({ rebootRequired, rebootRequiredInfo }: HotpatchReports): boolean {
  return rebootRequired || dict(dict(rebootRequiredInfo)['output'])['reboot_required'] === 'yes';
}

const OUT_OF_SUPPORT: readonly unknown[] = ['kernel-end-of-life', 'end-of-life', 'unsupported'];

function isEndOfLife(running: Dict): boolean {
  return OUT_OF_SUPPORT.includes(running['Supported']);
}

const SETTLED_STATES: readonly unknown[] = ['applied', 'nothing-to-apply'];

function isPatched(running: Dict): boolean {
  const patch = dict(either(running, 'Hotpatch'));
  const fixes = Array.isArray(patch['Fixes']) ? patch['Fixes'].map(dict) : [];
  return SETTLED_STATES.includes(patch['State']) && fixes.every((fix) => fix['Patched'] !== false);
}
