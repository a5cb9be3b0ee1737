import { readFileSync } from 'node:fs';
import { type AdvisoryReport, FAILING, fetchAdvisories } from './advisories.ts';
import { licenseReport } from './licenses.ts';
import { lockedPackages, lockProblems, readPackages, scriptProblems } from './lock-file.ts';
import { goProblems, mavenProblems } from './other-ecosystems.ts';

export interface SupplyChainReport {
  /** For a reader: packages, install scripts, licences, advisories. */
  text: string;
  /** Each one fails the build. */
  problems: string[];
}

/** Looks at everything the project takes from others. Asks the registry for advisories, changes nothing. */
export async function reportSupplyChain(): Promise<SupplyChainReport> {
  const { manifest, lock } = readPackages();
  const licenses = licenseReport(lock);
  const advisories = await fetchAdvisories();
  const scripts = Object.entries(manifest.allowScripts ?? {}).map(([name, on]) => `${name} (${on ? 'needed' : 'not'})`);
  const packages = lockedPackages(lock);
  const text = [
    `packages: ${packages.length} in the lock file, ${packages.filter(({ dev }) => dev).length} for development alone`,
    `install scripts: off; packages that have one: ${scripts.join(', ')}`,
    'licences (packages, of these for development alone):',
    ...licenses.lines.map(
      (l) => `  ${l.license.padEnd(24)}${String(l.packages).padStart(4)}${String(l.development).padStart(5)}`,
    ),
    ...advisoryLines(advisories),
  ].join('\n');
  const problems = [
    ...lockProblems(manifest, lock),
    ...scriptProblems(manifest, lock, readFileSync('.npmrc', 'utf8')),
    ...licenses.problems,
    ...goProblems(),
    ...mavenProblems(),
    ...advisoryProblems(advisories),
  ];
  return { text, problems };
}

/** The advisories that fail a build. */
export function advisoryProblems(report: AdvisoryReport): string[] {
  if (report.state === 'unavailable') return [];
  return report.advisories
    .filter(({ severity }) => FAILING.includes(severity))
    .map((advisory) => `${advisory.package}: ${advisory.title} (${advisory.severity})`);
}

function advisoryLines(report: AdvisoryReport): string[] {
  if (report.state === 'unavailable') return [`advisories: NOT CHECKED, ${report.reason}`];
  const lines = report.advisories.map((a) => `  ${a.severity}: ${a.package}: ${a.title}`);
  return [`advisories: ${lines.length} about what the product runs with`, ...lines];
}
