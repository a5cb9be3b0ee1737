import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type AdvisoryReport, fetchAdvisories, readAudit } from './advisories.ts';
import { licenseReport } from './licenses.ts';
import { type LockFile, lockedPackages, lockProblems, readPackages, scriptProblems } from './lock-file.ts';
import { goProblems, mavenProblems } from './other-ecosystems.ts';
import { advisoryProblems, reportSupplyChain } from './report.ts';
import { createSbom } from './sbom.ts';

const run = promisify(execFile);
const { manifest, lock } = readPackages();
const npmrc = readFileSync('.npmrc', 'utf8');
/** The lock file with one package changed. */
const lockWith = (path: string, change: object): LockFile => ({
  ...lock,
  packages: { ...lock.packages, [path]: { ...lock.packages[path], ...change } },
});

describe('what the project takes from others', () => {
  it('DEP-advisory/license: is pinned, hashed, licensed and free of known weaknesses', async () => {
    const { text, problems } = await reportSupplyChain();
    console.log(text);
    expect(text).toMatch(/packages: \d+ in the lock file/);
    expect(problems).toEqual([]);
  });

  it('DEP-advisory: asks the registry, and shows when it has no answer', async ({ skip }) => {
    const report = await fetchAdvisories();
    if (report.state === 'unavailable') skip(`the registry gives no advisories: ${report.reason}`);
    expect(advisoryProblems(report)).toEqual([]);
  });

  it('DEP-advisory: a weakness of what the product runs with fails the build', () => {
    const via = [{ title: 'reads too far', severity: 'high' }, 'other'];
    const found = readAudit(JSON.stringify({ vulnerabilities: { pg: { severity: 'high', via } } }), 'exit code 1');
    expect(advisoryProblems(found)).toEqual(['pg: reads too far (high)']);
    const mild: AdvisoryReport = {
      state: 'answered',
      advisories: [{ package: 'pg', severity: 'low', title: 'slow' }],
    };
    expect(advisoryProblems(mild)).toEqual([]);
    expect(readAudit('', 'npm is away')).toEqual({ state: 'unavailable', reason: 'npm is away' });
    const refused = JSON.stringify({ message: '405 - POST https://registry.example/-/npm' });
    expect(readAudit(refused, null)).toEqual({ state: 'unavailable', reason: '405 - POST registry' });
  });

  it('DEP-license: an unknown or a copyleft licence fails the build', () => {
    expect(licenseReport(lock).problems).toEqual([]);
    const refused = [
      'GPL-3.0',
      'AGPL-3.0-only',
      'MPL-2.0',
      'SEE LICENSE IN x',
      'MIT AND GPL-2.0',
      '(MIT OR (A AND B))',
    ];
    for (const license of refused) {
      expect(licenseReport(lockWith('node_modules/pg', { license })).problems, license).toHaveLength(1);
    }
    expect(licenseReport(lockWith('node_modules/pg', { license: undefined })).problems).toHaveLength(1);
    expect(licenseReport(lockWith('node_modules/pg', { license: '(GPL-3.0 OR MIT)' })).problems).toEqual([]);
    const lightningcss = 'node_modules/lightningcss';
    expect(lock.packages[lightningcss]?.license).toBe('MPL-2.0');
    expect(licenseReport(lockWith(lightningcss, { dev: false })).problems).toHaveLength(1);
  });

  it('DEP-advisory: the lock file is that of the manifest, exact and hashed throughout', () => {
    expect(lockProblems(manifest, lock)).toEqual([]);
    const ranged = { ...manifest, dependencies: { ...manifest.dependencies, pg: '^8.23.0' } };
    expect(lockProblems(ranged, lock)).toHaveLength(3);
    expect(lockProblems({ ...manifest, dependencies: { ...manifest.dependencies, left: '1.0.0' } }, lock)).toHaveLength(
      2,
    );
    expect(lockProblems({ ...manifest, overrides: { pg: '>=8' } }, lock)).toHaveLength(1);
    const changes = [
      { integrity: undefined },
      { integrity: 'sha1-AAAA' },
      { resolved: 'https://elsewhere.example/pg.tgz' },
      { resolved: 'git+ssh://git@host.example/pg.git' },
      { link: true },
    ];
    for (const change of changes) {
      expect(lockProblems(manifest, lockWith('node_modules/pg', change)), JSON.stringify(change)).toHaveLength(1);
    }
    expect(lockProblems(manifest, { ...lock, lockfileVersion: 2 })).toHaveLength(1);
  });

  it('DEP-advisory: no package runs a script when it is installed', async () => {
    expect(scriptProblems(manifest, lock, npmrc)).toEqual([]);
    expect(scriptProblems(manifest, lock, 'fund=false\n')).toHaveLength(1);
    expect(scriptProblems(manifest, lockWith('node_modules/pg', { hasInstallScript: true }), npmrc)).toHaveLength(1);
    expect(
      scriptProblems({ ...manifest, allowScripts: { ...manifest.allowScripts, pg: true } }, lock, npmrc),
    ).toHaveLength(1);
    // As npm itself reads it, whichever version runs here.
    expect((await run('npm', ['config', 'get', 'ignore-scripts'])).stdout.trim()).toBe('true');
  });

  it('says nothing of the older Node that npm may run on, which does not run Flotilla', async () => {
    expect((await run('npm', ['config', 'get', 'loglevel'])).stdout.trim()).toBe('error');
    expect(readFileSync('README.md', 'utf8')).toContain('Node 22.18 or newer');
  });

  it('DEP-advisory: the Go modules and Maven artefacts are pinned likewise', () => {
    expect([...goProblems(), ...mavenProblems()]).toEqual([]);
    const mod = readFileSync('tools/temporal-server/program/go.mod', 'utf8');
    const sum = readFileSync('tools/temporal-server/program/go.sum', 'utf8');
    expect(goProblems(`${mod}\nreplace a.example/b => ../b\n`, sum)).toHaveLength(1);
    expect(goProblems(`${mod}\nrequire a.example/b v1.0.0\n`, sum)).toEqual(['a.example/b v1.0.0 has no hash']);
    expect(goProblems(mod, sum.split('\n').slice(40).join('\n')).length).toBeGreaterThan(0);
    const pom = (version: string) =>
      `<dependency><groupId>a.b</groupId><artifactId>c</artifactId><version>${version}</version></dependency>`;
    expect(mavenProblems(pom('1.2.3'))).toEqual([]);
    for (const version of ['[1.0,2.0)', '1.0-SNAPSHOT', 'LATEST', ''])
      expect(mavenProblems(pom(version))).toHaveLength(1);
  });
});

describe('the bill of materials', () => {
  const sbom = createSbom(manifest, lock);

  it('names every package with version, hash and licence', () => {
    const purls = sbom.components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
    for (const { name, version } of lockedPackages(lock)) {
      expect(purls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    }
    const pg = sbom.components.find(({ purl }) => purl === `pkg:npm/pg@${manifest.dependencies?.['pg']}`)!;
    expect(pg.licenses).toEqual([{ license: { id: 'MIT' } }]);
    expect(pg.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
    expect(purls.filter((purl) => purl.startsWith('pkg:golang/go.temporal.io/server@'))).toHaveLength(1);
    expect(purls.filter((purl) => purl.startsWith('pkg:maven/io.temporal/'))).toHaveLength(1);
  });

  it('is the same whenever it is made of the same lock file, and another one of another', () => {
    expect(createSbom(manifest, lock)).toEqual(sbom);
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    const other = createSbom(manifest, lockWith('node_modules/pg', { version: '0.0.1' }));
    expect(other.serialNumber).not.toBe(sbom.serialNumber);
  });

  it('agrees with the one npm makes, on every package, hash and licence', async () => {
    const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
    const { stdout } = await run('npm', args, { maxBuffer: 64 << 20 });
    const theirs = JSON.parse(stdout) as typeof sbom;
    expect(theirs.components.length).toBeGreaterThan(300);
    const ours = new Map(sbom.components.map((component) => [component.purl, component]));
    for (const { purl, hashes, licenses } of theirs.components) {
      expect(ours.get(purl)?.hashes, purl).toEqual(hashes);
      if (licenses?.length) expect(ours.get(purl)?.licenses, purl).toEqual(licenses);
    }
  });
});
