import { BFloat, type BObject, BTuple, type BValue } from '../../../src/protocol/bpickle.ts';
import { PACKAGE_TYPE } from '../catalogue/package-hash.ts';
import type { Catalogue, CataloguePackage } from '../catalogue/packages.ts';
import { installedVersion } from './machine.ts';

/** The sets of packages an agent reports, as catalogue positions. @see docs/agent-protocol.md#packages */
export type PackageSets = Readonly<Record<SetName, ReadonlySet<number>>>;

const SET_NAMES = ['installed', 'available', 'available-upgrades', 'locked', 'autoremovable', 'security'] as const;
type SetName = (typeof SET_NAMES)[number];

export function packageSets(
  catalogue: Catalogue,
  state: { installed: readonly number[]; held: readonly number[]; kernel: string | null },
): PackageSets {
  const upgrades = state.installed.flatMap((index) => {
    const versions = catalogue.byName.get(catalogue.packages[index]!.name)!;
    return versions.slice(versions.indexOf(catalogue.packages[index]!) + 1).map((newer) => newer.index);
  });
  return {
    installed: new Set(state.installed),
    available: new Set(catalogue.packages.keys()),
    'available-upgrades': new Set(upgrades),
    locked: new Set(state.held),
    autoremovable: new Set(staleKernels(catalogue, state.installed, state.kernel)),
    security: new Set(catalogue.packages.filter((entry) => entry.pocket === 'security').map((entry) => entry.index)),
  };
}

function staleKernels(catalogue: Catalogue, installed: readonly number[], running: string | null): number[] {
  if (!catalogue.kernelMeta) return [];
  const needed = [
    ...(installedVersion(catalogue, installed, catalogue.kernelMeta)?.requires ?? []),
    `linux-image-${running}`,
  ];
  return installed.filter((index) => {
    const { audience, name } = catalogue.packages[index]!;
    return audience === 'kernel' && name !== catalogue.kernelMeta && !needed.includes(name);
  });
}

/**
 * Makes the `packages` message with the changes since the last report.
 * @param ids - the server's ids by catalogue position
 * @returns null if nothing changed
 */
export function packageDelta(before: PackageSets | null, after: PackageSets, ids: ArrayLike<number>): BObject | null {
  const message: BObject = { type: 'packages' };
  for (const name of SET_NAMES) {
    const old = before?.[name] ?? new Set<number>();
    const added = [...after[name]].filter((index) => !old.has(index));
    const removed = [...old].filter((index) => !after[name].has(index));
    if (added.length > 0) message[name] = toRanges(added.map((index) => ids[index]!));
    if (removed.length > 0) message[`not-${name}`] = toRanges(removed.map((index) => ids[index]!));
  }
  return Object.keys(message).length > 1 ? message : null;
}

const SHORTEST_RANGE = 3;

/** Writes ids in ascending order, three or more consecutive ones as an inclusive range. */
export function toRanges(ids: readonly number[]): BValue[] {
  const sorted = [...ids].sort((a, b) => a - b);
  const out: BValue[] = [];
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (sorted[end + 1] === sorted[end]! + 1) end++;
    const run = sorted.slice(start, end + 1);
    if (run.length >= SHORTEST_RANGE) out.push(new BTuple([run[0]!, run.at(-1)!]));
    else out.push(...run);
    start = end + 1;
  }
  return out;
}

export function packageDescription(entry: CataloguePackage): BObject {
  return {
    type: PACKAGE_TYPE,
    name: entry.name,
    version: entry.version,
    section: entry.section,
    summary: entry.summary,
    description: `${entry.summary}.`,
    size: entry.size,
    'installed-size': entry.installedSize,
    relations: entry.relations.map((relation) => new BTuple([...relation])),
  };
}

export function reporterResult(): BObject {
  return { type: 'package-reporter-result', code: 0, err: '', 'report-timestamp': new BFloat(Date.now() / 1000) };
}
