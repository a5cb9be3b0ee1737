import { readFileSync } from 'node:fs';

/** One installed package, as the lock file tells it. */
export interface LockedPackage {
  version?: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  hasInstallScript?: boolean;
}

type Versions = Record<string, string>;

/** What `package.json` says about other packages. */
export interface Manifest {
  name: string;
  version: string;
  dependencies?: Versions;
  devDependencies?: Versions;
  optionalDependencies?: Versions;
  overrides?: Record<string, unknown>;
  allowScripts?: Record<string, boolean>;
}

export interface LockFile {
  lockfileVersion: number;
  /** By path below the project; the project itself is at `''`. */
  packages: Record<string, LockedPackage>;
}

const PUBLIC_REGISTRY = 'https://registry.npmjs.org/';
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

/** The project's manifest and lock file. */
export function readPackages(): { manifest: Manifest; lock: LockFile } {
  return {
    manifest: JSON.parse(readFileSync('package.json', 'utf8')) as Manifest,
    lock: JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile,
  };
}

/** The packages of a lock file without the project itself, each with its name. */
export function lockedPackages(lock: LockFile): Array<LockedPackage & { path: string; name: string }> {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({ ...entry, path, name: path.slice(path.lastIndexOf('node_modules/') + 13) }));
}

/**
 * Everything that would let an installation differ from what was tested: a range instead of a version, a lock file of
 * another manifest, a package without a hash or from elsewhere than the public registry.
 */
export function lockProblems(manifest: Manifest, lock: LockFile): string[] {
  const root = (lock.packages[''] ?? {}) as Manifest;
  const problems = lock.lockfileVersion === 3 ? [] : [`lock file version ${lock.lockfileVersion} instead of 3`];
  for (const kind of KINDS) {
    const wanted = manifest[kind] ?? {};
    const locked = root[kind] ?? {};
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(locked)])) {
      if (wanted[name] !== locked[name]) {
        problems.push(`${name}: ${wanted[name]} in package.json, ${locked[name]} in the lock file`);
      }
      if (!EXACT.test(wanted[name] ?? '')) problems.push(`${name}: ${wanted[name]} is not one exact version`);
      const installed = lock.packages[`node_modules/${name}`]?.version;
      if (installed !== wanted[name]) problems.push(`${name}: ${wanted[name]} is wanted, ${installed} is locked`);
    }
  }
  return [...problems, ...overrideProblems(manifest.overrides ?? {}), ...lockedPackages(lock).flatMap(entryProblems)];
}

function overrideProblems(overrides: Record<string, unknown>): string[] {
  return Object.entries(overrides).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null) return overrideProblems(value as Record<string, unknown>);
    // `$name` stands for the version that the manifest pins.
    const exact = typeof value === 'string' && (EXACT.test(value) || value.startsWith('$'));
    return exact ? [] : [`the override of ${name} is not one exact version`];
  });
}

function entryProblems(entry: LockedPackage & { path: string }): string[] {
  const problems: string[] = [];
  if (!EXACT.test(entry.version ?? '') || entry.link) problems.push(`${entry.path}: not one published version`);
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) problems.push(`${entry.path}: no SHA-512 hash`);
  if (entry.resolved !== undefined && !entry.resolved.startsWith(PUBLIC_REGISTRY)) {
    problems.push(`${entry.path}: comes from ${entry.resolved}`);
  }
  return problems;
}

/**
 * What could run code at installation without being named: `.npmrc` switches install scripts off for every version of
 * npm, and `allowScripts` names a decision on each package that has one, for those who switch them on again.
 */
export function scriptProblems(manifest: Manifest, lock: LockFile, npmrc: string): string[] {
  const allowed = manifest.allowScripts ?? {};
  const scripted = new Set(
    lockedPackages(lock)
      .filter(({ hasInstallScript }) => hasInstallScript)
      .map(({ name }) => name),
  );
  return [
    ...(/^ignore-scripts\s*=\s*true$/m.test(npmrc) ? [] : ['.npmrc does not switch install scripts off']),
    ...[...scripted]
      .filter((name) => !(name in allowed))
      .map((name) => `${name} has an install script nobody decided on`),
    ...Object.keys(allowed)
      .filter((name) => !scripted.has(name))
      .map((name) => `allowScripts names ${name}, which has no install script`),
  ];
}
