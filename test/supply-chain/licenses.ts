import { type LockFile, lockedPackages } from './lock-file.ts';

/** Permissive licences: what they ask for is a notice. */
const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
];

/** Licences accepted for the named packages alone, with the reason. */
const EXCEPTIONS: ReadonlyArray<{ license: string; packages: RegExp; dev: boolean; why: string }> = [
  { license: 'MPL-2.0', packages: /^lightningcss(-|$)/, dev: true, why: 'unchanged, a tool of the test runner' },
  { license: 'CC-BY-4.0', packages: /^caniuse-lite$/, dev: false, why: 'data of the workflow bundler, named here' },
];

/** Packages whose manifest names no licence in the current form; theirs was read in their LICENSE file. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  'busboy@1.6.0': 'MIT',
  'streamsearch@1.1.0': 'MIT',
  'unionfs@4.6.0': 'Unlicense',
};

export interface LicenseReport {
  /** How many packages are under each licence, most first, those of development counted apart. */
  lines: Array<{ license: string; packages: number; development: number }>;
  problems: string[];
}

/** The SPDX expression a package is under, or null when none is known. */
export function licenseOf(entry: { name: string; version?: string; license?: string }): string | null {
  return entry.license ?? READ_BY_HAND[`${entry.name}@${entry.version}`] ?? null;
}

/** Counts the licences of all locked packages and names every package whose licence was not accepted. */
export function licenseReport(lock: LockFile): LicenseReport {
  const lines = new Map<string, { license: string; packages: number; development: number }>();
  const problems: string[] = [];
  for (const entry of lockedPackages(lock)) {
    const license = licenseOf(entry);
    const development = Boolean(entry.dev);
    const line = lines.get(license ?? 'none') ?? { license: license ?? 'none', packages: 0, development: 0 };
    lines.set(line.license, line);
    line.packages += 1;
    if (development) line.development += 1;
    if (license === null) problems.push(`${entry.name}@${entry.version} names no licence`);
    else if (!isAccepted(license, entry.name, development)) {
      problems.push(`${entry.name}@${entry.version} is under ${license}, which is not accepted`);
    }
  }
  return { lines: [...lines.values()].sort((a, b) => b.packages - a.packages), problems };
}

/** Of `A OR B` one is enough, of `A AND B` all are needed. No expression here nests them. */
function isAccepted(expression: string, name: string, development: boolean): boolean {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (bare.includes('(')) return false;
  if (bare.includes(' OR ')) return bare.split(' OR ').some((part) => isAccepted(part, name, development));
  if (bare.includes(' AND ')) return bare.split(' AND ').every((part) => isAccepted(part, name, development));
  if (PERMISSIVE.includes(bare)) return true;
  return EXCEPTIONS.some((e) => e.license === bare && e.packages.test(name) && (development || !e.dev));
}
