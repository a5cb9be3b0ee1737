import type { PackageAction } from './package-operations.ts';
import { compareVersions } from './debian-version.ts';

export interface KnownVersion {
  id: number;
  version: string;
  installed: boolean;
  available: boolean;
  held: boolean;
}

/** The given version (by id) or its equivalent, as lists show one computer's version; null when neither is possible. */
export function chooseVersion(action: PackageAction, given: number, versions: readonly KnownVersion[]) {
  const newestFirst = [...versions].sort((a, b) => compareVersions(b.version, a.version));
  const current = newestFirst.find(({ installed }) => installed);
  const first = (test: (version: KnownVersion) => boolean) =>
    newestFirst.find((version) => version.id === given && test(version)) ?? newestFirst.find(test) ?? null;
  const offered = newestFirst.filter(({ available, installed }) => available && !installed);
  const exact = offered.find(({ id }) => id === given);
  switch (action) {
    case 'install':
      return exact ?? (current ? null : (offered[0] ?? null));
    case 'upgrade':
      return current ? newer(current, exact, offered) : (exact ?? null);
    case 'downgrade':
      return current ? older(current, exact, offered) : (exact ?? null);
    case 'remove':
      return first(({ installed }) => installed);
    case 'hold':
      return first(({ installed, held }) => installed && !held);
    case 'unhold':
      return first(({ held }) => held);
  }
}

function newer(current: KnownVersion, exact: KnownVersion | undefined, offered: readonly KnownVersion[]) {
  const isNewer = ({ version }: KnownVersion) => compareVersions(version, current.version) > 0;
  return exact && isNewer(exact) ? exact : (offered.find(isNewer) ?? null);
}

function older(current: KnownVersion, exact: KnownVersion | undefined, offered: readonly KnownVersion[]) {
  const isOlder = ({ version }: KnownVersion) => compareVersions(version, current.version) < 0;
  if (exact) return isOlder(exact) ? exact : null;
  return offered.find(isOlder) ?? null;
}
