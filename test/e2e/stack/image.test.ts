import { execFile } from 'node:child_process';
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_FROM } from '../../../src/process/web-page.ts';
import { API_COMMAND } from '../../../tools/stack/topology/roles.ts';
import { buildBundle } from '../../../workers/process/workflow-bundle.ts';
import { createProcessesApart, type ProcessesApart } from './processes-apart.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Folders and files that stages of a Dockerfile take from the project. */
function copiedSources(dockerfile: string): string[] {
  return [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) => sources!.split(' '));
}

/**
 * Assembles what the image holds without a container engine: what the Dockerfile copies, the packages that
 * `npm ci --omit=dev --omit=optional` installs, and the prebuilt bundle. Returns the path of Node in it.
 */
function assembleImage(directory: string, sources: readonly string[]): string {
  for (const source of [...sources, 'build']) place(join(PROJECT, source), join(directory, source));
  const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [path, { dev, optional, devOptional }] of Object.entries(lock.packages)) {
    // Those of the project itself are among the sources, if at all.
    if (!path.includes('node_modules/') || dev || optional || devOptional) continue;
    place(join(PROJECT, path), join(directory, path), isForeign);
  }
  const node = join(directory, 'node');
  placeFile(process.execPath, node);
  return node;
}

/** Packages inside a package are listed by themselves, and native parts of other platforms are removed. */
function isForeign(path: string): boolean {
  const platform = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-gnu`;
  const release = /^releases\/([^/]+)/.exec(path)?.[1];
  return path.startsWith('node_modules/') || (release !== undefined && release !== platform);
}

function place(from: string, to: string, leaveOut: (path: string) => boolean = () => false): void {
  const entries = tryList(from);
  if (entries === null) placeFile(from, to);
  for (const entry of entries ?? []) {
    const path = join(entry.parentPath, entry.name);
    const inside = relative(from, path);
    if (entry.isFile() && !leaveOut(inside)) placeFile(path, join(to, inside));
  }
}

function tryList(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true, recursive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    throw error;
  }
}

/** A link costs nothing; another file system takes a copy. */
function placeFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}

const TIMEOUT_MS = 240_000;
const dockerfile = await readFile(join(PROJECT, 'Dockerfile'), 'utf8');
const lastStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);

/** The image without a container engine: the same files, the same user rights, the same commands. */
describe('the image', { timeout: TIMEOUT_MS }, () => {
  let directory: string;
  let node: string;
  let apart: ProcessesApart;

  beforeAll(async () => {
    await buildBundle();
    await promisify(execFile)(process.execPath, ['tools/stack/web/build-page-main.ts'], { cwd: PROJECT });
    directory = await mkdtemp(join(tmpdir(), 'flotilla-image-'));
    await chmod(directory, 0o755);
    node = assembleImage(directory, copiedSources(lastStage));
    apart = await createProcessesApart({ migrated: false });
  }, TIMEOUT_MS);

  afterAll(async () => {
    await apart?.dispose();
    await rm(directory, { recursive: true, force: true });
  });

  it('runs every role and step of a deploy from production dependencies, as a normal user', async () => {
    const options = {
      project: directory,
      node,
      user: process.getuid?.() === 0 ? 1000 : undefined,
      env: { NODE_ENV: 'production', FLOTILLA_METRICS_HOST: '0.0.0.0' },
    };
    for (const script of ['src/persistence/orm/migrate.ts', 'temporal/bootstrap-main.ts']) {
      expect(await apart.command(script, options)).toMatchObject({ code: 0 });
    }
    const reset = { ...options, args: ['nobody@example.com'] };
    expect(await apart.command('tools/stack/reset-password-main.ts', reset)).toEqual({
      code: 1,
      output: 'Nobody has the email address nobody@example.com\n',
    });
    const worker = await apart.worker(['fleet-activity', 'fleet-schedule', 'fleet-report'], options);
    const api = await apart.api({ ...options, gateway: false });
    const gateway = await apart.gateway(options);
    for (const role of [worker, api, gateway]) {
      await role.ready();
      const env = { ...options.env, FLOTILLA_METRICS_PORT: new URL(role.metricsUrl).port };
      const args = role === worker ? ['--ready'] : [];
      expect(await apart.command('src/process/health-check.ts', { ...options, env, args })).toMatchObject({ code: 0 });
    }
    expect(await apart.command('workers/set-current-version.ts', options)).toMatchObject({ code: 0 });
    expect(worker.log()).not.toContain('building the workflow bundle');
    const page = await (await fetch(`${api.url}/computers`, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('<div id="root">');
    const { status } = await fetch(`${gateway.url}/`, { headers: { accept: 'text/html' } });
    expect(status).toBe(404);
    for (const role of [api, gateway, worker]) expect(await role.stop()).toBe(0);
    const env = { ...options.env, FLOTILLA_METRICS_PORT: new URL(worker.metricsUrl).port };
    const { code, output } = await apart.command('src/process/health-check.ts', { ...options, env, args: ['--ready'] });
    expect([code, output]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  });

  it('builds nothing when it starts, and fails with a message when its bundle is missing', async () => {
    await rm(join(directory, 'build'), { recursive: true });
    const env = { NODE_ENV: 'production' };
    const { code, output } = await apart.command('workers/main.ts', { project: directory, node, env });
    expect([code, output]).toEqual([1, expect.stringContaining('the workflow bundle is missing')]);
  });

  it('is described by a Dockerfile with a normal user, a health check and no build at the start', () => {
    expect(lastStage).toMatch(/^USER node$/m);
    expect(lastStage).toMatch(/^HEALTHCHECK .*CMD \["node", "src\/process\/health-check.ts"\]$/m);
    expect(lastStage).toMatch(/^CMD \["node", "--max-semi-space-size=16", "src\/server\/main.ts"\]$/m);
    expect(JSON.parse(/^CMD (.*)$/m.exec(lastStage)![1]!)).toEqual(['node', ...API_COMMAND]);
    expect(lastStage).not.toMatch(/^RUN /m);
    expect(dockerfile).toMatch(/npm ci --omit=dev --omit=optional --ignore-scripts/);
    expect(dockerfile).toContain('NODE_IMAGE=node:24-bookworm-slim');
  });

  it('has the web page from a stage that builds it of all its sources', () => {
    const stage = /^FROM \S+ AS page\n(.*?)^FROM /ms.exec(dockerfile)![1]!;
    expect(stage).toMatch(/^RUN node tools\/stack\/web\/build-page-main\.ts$/m);
    const copied = copiedSources(stage);
    for (const source of BUILT_FROM)
      expect(
        copied.some((path) => isWithin(source, path)),
        source,
      ).toBe(true);
    expect(lastStage).toMatch(/^COPY --from=page \/app\/build \.\/build$/m);
  });

  it('leaves tests, secrets and data out of what the build is given', async () => {
    const ignore = await readFile(join(PROJECT, '.dockerignore'), 'utf8');
    const lines = ignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    const given = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(given.toSorted()).toEqual([...new Set(copiedSources(dockerfile))].toSorted());
  });
});
