import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

interface LockedPackage {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}

const run = promisify(execFile);
const read = (file: string) => readFile(file, 'utf8');
const WORKSPACES = [...globSync('packages/*'), 'web'];
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const manifest = JSON.parse(await read('package.json'));
const { packages: locked, lockfileVersion } = JSON.parse(await read('package-lock.json')) as {
  packages: Record<string, LockedPackage>;
  lockfileVersion: number;
};
const installed = Object.entries(locked)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, entry]) => ({ ...entry, path, name: path.slice(path.lastIndexOf('node_modules/') + 13) }));

describe('npm packages', () => {
  it('DEP-advisory: are pinned by version and hash, and come from the registry', () => {
    expect(lockfileVersion).toBe(3);
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
      expect(locked['']).toMatchObject({ [kind]: manifest[kind] });
      for (const [name, version] of Object.entries<string>(manifest[kind])) {
        expect(version, name).toMatch(EXACT);
        expect(locked[`node_modules/${name}`]?.version, name).toBe(version);
      }
    }
    const overrides = Object.values<object | string>(manifest.overrides);
    for (const version of overrides.flatMap((one) => (typeof one === 'string' ? one : Object.values(one)))) {
      expect(version.startsWith('$') || EXACT.test(version), version).toBe(true);
    }
    for (const { path, version, integrity, resolved } of installed) {
      expect(version, path).toMatch(EXACT);
      expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
      expect(resolved ?? 'https://registry.npmjs.org/', path).toMatch(/^https:\/\/registry\.npmjs\.org\//);
    }
  });

  it('are pinned in the workspaces, too, which are all that is linked', async () => {
    const linked = Object.values(locked).flatMap(({ link, resolved }) => (link ? [resolved] : []));
    expect(linked.sort()).toEqual(WORKSPACES.sort());
    for (const folder of WORKSPACES) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(await read(join(folder, 'package.json')));
      const none = { dependencies: {}, devDependencies: {} };
      expect({ ...none, ...locked[folder] }).toMatchObject({ dependencies, devDependencies });
      for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
        expect(version, name).toMatch(EXACT);
      }
    }
  });

  it('has one version of MikroORM', () => {
    const parts = installed.filter(({ name }) => name.startsWith('@mikro-orm/'));
    expect(parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['@mikro-orm/core', '@mikro-orm/sql']));
    expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
    expect(new Set(parts.map(({ version }) => version))).toEqual(new Set([manifest.dependencies['@mikro-orm/core']]));
  });

  it('DEP-advisory: run no script when they are installed', async () => {
    expect((await run('npm', ['config', 'get', 'ignore-scripts'])).stdout.trim()).toBe('true');
    // For those who switch them on again, there is a decision on each.
    const scripted = new Set(installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...scripted].sort());
  });

  it('do not complain about the older Node that npm may run on, which does not run Flotilla', async () => {
    expect((await run('npm', ['config', 'get', 'loglevel'])).stdout.trim()).toBe('error');
    expect(await read('README.md')).toContain('Node 22.18 or newer');
  });

  it('are all in the bill of materials, with version and hash', async () => {
    const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
    const { stdout } = await run('npm', args, { maxBuffer: 64 << 20 });
    const { components } = JSON.parse(stdout) as { components: Array<{ purl: string; hashes?: unknown[] }> };
    const hashed = components.filter(({ hashes }) => hashes?.length === 1).map(({ purl }) => purl);
    const purls = installed.map(({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`);
    expect(purls.filter((purl) => !hashed.includes(purl))).toEqual([]);
  });
});

describe('npm run licenses', () => {
  const licensee = resolve('node_modules/.bin/licensee');
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  /** Names of the packages whose licence is not accepted. */
  async function rejected(cwd: string): Promise<string[]> {
    const args = ['--errors-only', '--ndjson'];
    const { stdout } = await run(licensee, args, { cwd }).catch((error: { stdout: string }) => error);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { name: string }).name).sort();
  }

  it('DEP-license: accepts what is installed', async () => {
    await run(licensee, ['--errors-only']);
    expect(await rejected('.')).toEqual([]);
  });

  it('DEP-license: an unknown or a copyleft licence fails the build', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-licenses-'));
    folders.push(folder);
    const licenses = {
      gpl: 'GPL-3.0-only',
      agpl: 'AGPL-3.0-only',
      mpl: 'MPL-2.0',
      file: 'SEE LICENSE IN x',
      both: 'MIT AND GPL-2.0-only',
      none: undefined,
      lightningcss: 'MPL-2.0',
      either: '(GPL-3.0-only OR MIT)',
      free: 'MIT',
    };
    await cp('.licensee.json', join(folder, '.licensee.json'));
    const dependencies = Object.fromEntries(Object.keys(licenses).map((name) => [name, '1.0.0']));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'fleet', version: '1.0.0', dependencies }));
    for (const [name, license] of Object.entries(licenses)) {
      await mkdir(join(folder, 'node_modules', name), { recursive: true });
      const content = JSON.stringify({ name, version: '1.0.0', license });
      await writeFile(join(folder, 'node_modules', name, 'package.json'), content);
    }
    expect(await rejected(folder)).toEqual(['agpl', 'both', 'file', 'gpl', 'lightningcss', 'mpl', 'none']);
  });
});

describe('modules of other ecosystems', () => {
  it('DEP-advisory: those of Go are pinned by version and hash', async () => {
    const mod = await read('tools/temporal-server/program/go.mod');
    const sums = (await read('tools/temporal-server/program/go.sum')).trim().split('\n');
    for (const line of sums) expect(line).toMatch(/^\S+ v[^\s/]+(\/go\.mod)? h1:[A-Za-z0-9+/]{43}=$/);
    const modules = [...mod.matchAll(/^\s*(?:require\s+)?(\S+\.\S+\/\S+) (v\S+)/gm)];
    expect(modules.length).toBeGreaterThan(100);
    for (const [, name, version] of modules) {
      expect(version, name).toMatch(/^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+incompatible)?$/);
      expect(
        sums.filter((line) => line.startsWith(`${name} ${version} h1:`)),
        name,
      ).toHaveLength(1);
    }
    expect(mod).not.toMatch(/^\s*replace\b/m);
  });

  it('DEP-advisory: those of Maven are of one final version', async () => {
    const pom = await read('tools/temporal-server/test-server.pom.xml');
    const artefacts = [...pom.matchAll(/<(?:dependency|plugin)>(.*?)<\/(?:dependency|plugin)>/gs)];
    expect(artefacts.length).toBeGreaterThan(0);
    for (const [, artefact] of artefacts) expect(artefact).toMatch(/<version>\s*\d+(\.\d+)+\s*<\/version>/);
    expect(pom).not.toMatch(/<(repository|pluginRepository)>/);
  });
});
