import { compareVersions } from './debian-version.ts';
import type { PackageVersion } from './package-changes.ts';

/** @see docs/api-conventions.md#kernels */
const SMART_STATUSES = [
  'Hotpatch disabled',
  'Restart required',
  'End of life',
  'Kernel upgrade available',
  'Fully patched',
  'Waiting for status',
] as const;

export type SmartStatus = (typeof SMART_STATUSES)[number];

export interface ReportedKernel extends PackageVersion {
  installed: boolean;
  available: boolean;
}

export interface HotpatchReports {
  hotpatchInfo: unknown;
  serviceInfo: unknown;
  rebootRequiredInfo: unknown;
  rebootRequired: boolean;
}

interface KernelChoices<K extends ReportedKernel = ReportedKernel> {
  /** Null when nothing was reported or no kernel package is installed. */
  installed: K | null;
  /** Newest first. */
  upgrades: K[];
  downgrades: K[];
}

/** Of several installed meta packages the source of the running kernel counts, or the newest if none was reported. */
export function kernelChoices<K extends ReportedKernel>(
  kernels: readonly K[],
  reports: HotpatchReports,
): KernelChoices<K> {
  const newestFirst = [...kernels].sort((a, b) => compareVersions(b.version, a.version) || byText(a.name, b.name));
  const choices = newestFirst.filter((kernel) => kernel.installed).map((kernel) => choicesOf(kernel, newestFirst));
  return pick(choices, runningKernel(reports)) ?? { installed: null, upgrades: [], downgrades: [] };
}

type Installed<K extends ReportedKernel> = KernelChoices<K> & { installed: K };

function choicesOf<K extends ReportedKernel>(installed: K, newestFirst: readonly K[]): Installed<K> {
  const others = newestFirst.filter(({ name, available }) => name === installed.name && available);
  return {
    installed,
    upgrades: others.filter(({ version }) => compareVersions(version, installed.version) > 0),
    downgrades: others.filter(({ version }) => compareVersions(version, installed.version) < 0),
  };
}

/** Of equally good matches, prefers one with upgrades, so that none is hidden; then the first name. */
function pick<K extends ReportedKernel>(
  newestFirst: ReadonlyArray<Installed<K>>,
  running: RunningKernel | null,
): Installed<K> | undefined {
  const [newest] = newestFirst;
  if (!running) return newest;
  const ofFlavour = newestFirst.filter(({ installed }) => flavourOf(installed.name) === running.flavour);
  const [best] = ofFlavour.sort(
    (a, b) =>
      comesFrom(running, a.installed.version, b.installed.version) ||
      Number(b.upgrades.length > 0) - Number(a.upgrades.length > 0) ||
      byText(a.installed.name, b.installed.name),
  );
  return best ?? newest;
}

/** Sorts by how likely the running kernel comes from a version: its build, its series, the oldest newer version. */
function comesFrom({ build }: RunningKernel, a: string, b: string): number {
  const [left, right] = [buildOf(a), buildOf(b)];
  const has = (test: (own: Build) => boolean) => Number(test(right)) - Number(test(left));
  const newer = (own: Build) => compareBuilds(own, build) > 0;
  return (
    has((own) => compareBuilds(own, build) === 0) ||
    has((own) => own.series === build.series) ||
    has(newer) ||
    (newer(left) ? compareBuilds(left, right) : compareBuilds(right, left))
  );
}

interface RunningKernel {
  build: Build;
  flavour: string;
}

/** The common part of kernels and meta packages: `6.8.0-45.45` is from the package version `6.8.0.45.45`. */
interface Build {
  series: string;
  abi: string;
}

function buildOf(version: string): Build {
  const [, series = version, abi = ''] = /^(?:\d+:)?(\d+\.\d+(?:\.\d+)?)[-.](\d+)/.exec(version) ?? [];
  return { series, abi };
}

function compareBuilds(a: Build, b: Build): number {
  return compareVersions(`${a.series}-${a.abi}`, `${b.series}-${b.abi}`);
}

/** From the structured report, else from the readable one; null when neither names it. */
function runningKernel(reports: HotpatchReports): RunningKernel | null {
  const readable = dict(dict(dict(reports.hotpatchInfo)['humane'])['output'])['kernel'];
  const text = String(runningPatch(reports)['Kernel'] ?? readable ?? '');
  const flavour = /-([a-z][a-z0-9-]*)$/.exec(text)?.[1];
  return flavour === undefined ? null : { build: buildOf(text), flavour };
}

/** The kernel line of a meta package: `-hwe-24.04`, `-lts-24.04`, `-24.04a`, `-6.8` or `-edge`. */
const TRACK = /-(?:hwe|lts)(?:-[a-z0-9.]+)?(?:-edge)?$|-\d+\.\d+[a-z]?(?:-edge)?$|-edge$/;

function flavourOf(name: string): string {
  const flavour = name.replace('linux-image-', '').replace(TRACK, '');
  return flavour === 'virtual' ? 'generic' : flavour;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The first match. If the hot-patch tool requires another kernel, an upgrade is due, listed or not. */
export function smartStatus(choices: KernelChoices, reports: HotpatchReports): SmartStatus {
  if (!choices.installed) return 'Waiting for status';
  if (isDisabled(reports)) return 'Hotpatch disabled';
  if (needsRestart(reports)) return 'Restart required';
  if (OUT_OF_SUPPORT.includes(runningPatch(reports)['Supported'])) return 'End of life';
  if (choices.upgrades.length > 0 || needsKernel(reports)) return 'Kernel upgrade available';
  return isPatched(runningPatch(reports)) ? 'Fully patched' : 'Waiting for status';
}

type Dict = Record<string, unknown>;

/** Reports are the output of other tools: anything can be missing or have another type. */
function dict(value: unknown): Dict {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {};
}

function either(object: Dict, name: string): unknown {
  return object[name] ?? object[name.replace('Hotpatch', 'Livepatch').replace('hotpatch', 'livepatch')];
}

function structured({ hotpatchInfo }: HotpatchReports): Dict {
  return dict(dict(hotpatchInfo)['json']);
}

function runningPatch(reports: HotpatchReports): Dict {
  const entries = dict(structured(reports)['output'])['Status'];
  const list = Array.isArray(entries) ? entries.map(dict) : [];
  return list.find((entry) => entry['Running'] === true) ?? list[0] ?? {};
}

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

function needsKernel(reports: HotpatchReports): boolean {
  const running = runningPatch(reports);
  const patch = dict(either(running, 'Hotpatch'));
  const pro = dict(dict(reports.rebootRequiredInfo)['output']);
  return [
    running['Supported'],
    patch['State'],
    patch['CheckState'],
    either(pro, 'hotpatch_state'),
    either(pro, 'hotpatch_support'),
    dict(dict(reports.serviceInfo)['warning'])['code'],
  ].some((state) => typeof state === 'string' && /kernel-upgrade-required$/i.test(state));
}

const SETTLED_STATES: readonly unknown[] = ['applied', 'nothing-to-apply'];

function isPatched(running: Dict): boolean {
  const patch = dict(either(running, 'Hotpatch'));
  const fixes = Array.isArray(patch['Fixes']) ? patch['Fixes'].map(dict) : [];
  return SETTLED_STATES.includes(patch['State']) && fixes.every((fix) => fix['Patched'] !== false);
}
