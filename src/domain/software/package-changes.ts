import { compareVersions } from './debian-version.ts';

export interface PackageVersion {
  id: number;
  name: string;
  version: string;
}

export interface RequestedChanges {
  install: readonly number[];
  remove: readonly number[];
  hold: readonly number[];
  release: readonly number[];
}

interface ComplementedChanges {
  install: readonly number[];
  remove: readonly number[];
}

/** One entry of an activity's `changes`. @see docs/api-conventions.md#fields-of-an-activity */
export type PackageChange =
  | {
      package: string;
      type: 'upgrade' | 'downgrade';
      complemented: boolean;
      install_version: string;
      remove_version: string;
    }
  | { package: string; type: 'install' | 'remove' | 'hold' | 'unhold'; complemented: boolean; version: string };

/** The effect of a change on a computer, by package id. Exchanging the sides undoes it. */
export interface PackageEffect {
  installed: number[];
  removed: number[];
  held: number[];
  released: number[];
}

export function effectOf(requested: RequestedChanges, complemented: ComplementedChanges): PackageEffect {
  const union = (...lists: ReadonlyArray<readonly number[]>) => [...new Set(lists.flat())];
  return {
    installed: union(requested.install, complemented.install),
    removed: union(requested.remove, complemented.remove),
    held: union(requested.hold),
    released: union(requested.release),
  };
}

/** All packages of an effect, requested ones first. */
export function packagesOf({ installed, removed, held, released }: PackageEffect): number[] {
  return [...new Set([...installed, ...removed, ...held, ...released])];
}

/** A version that replaces another is one entry, complemented unless the new version was requested. */
export function describeEffect(
  effect: PackageEffect,
  requested: RequestedChanges,
  known: ReadonlyMap<number, PackageVersion>,
): PackageChange[] {
  const read = (ids: readonly number[]) => ids.flatMap((id) => known.get(id) ?? []);
  const removed = new Map(read(effect.removed).map((entry) => [entry.name, entry]));
  const changes: PackageChange[] = [];
  for (const entry of read(effect.installed)) {
    const replaced = removed.get(entry.name);
    removed.delete(entry.name);
    const base = { package: entry.name, complemented: !requested.install.includes(entry.id) };
    if (!replaced) changes.push({ ...base, type: 'install', version: entry.version });
    else changes.push({ ...base, ...replacement(entry, replaced) });
  }
  for (const { id, name, version } of removed.values()) {
    changes.push({ package: name, type: 'remove', complemented: !requested.remove.includes(id), version });
  }
  for (const type of ['hold', 'unhold'] as const) {
    for (const { name, version } of read(type === 'hold' ? effect.held : effect.released)) {
      changes.push({ package: name, type, complemented: false, version });
    }
  }
  return changes;
}

function replacement({ version }: PackageVersion, replaced: PackageVersion) {
  const type = compareVersions(version, replaced.version) < 0 ? ('downgrade' as const) : ('upgrade' as const);
  return { type, install_version: version, remove_version: replaced.version };
}
