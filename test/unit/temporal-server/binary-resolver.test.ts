import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { downloadOfficial } from '../../../tools/temporal-server/official-download.ts';
import { findInCache, makeInCache } from '../../../tools/temporal-server/program-cache.ts';
import { resolveTemporal } from '../../../tools/temporal-server/programs.ts';
import { startTemporal } from '../../../tools/temporal-server/temporal-server.ts';
import { resolveTestServer } from '../../../tools/temporal-server/test-server.ts';
import {
  compareVersions,
  TEMPORAL_SERVER_VERSION,
  TEMPORAL_UI_VERSION,
} from '../../../tools/temporal-server/versions.ts';
import { script, temporaryDirectory } from '../../support/common/process.ts';

const report = (): void => undefined;

/** An empty PATH and an empty cache. */
async function aMachine() {
  const directory = await temporaryDirectory();
  const [bin, cache] = [join(directory, 'bin'), join(directory, 'cache')];
  await mkdir(bin);
  await mkdir(cache);
  return { bin, cache: join(cache, 'flotilla'), env: { PATH: bin, XDG_CACHE_HOME: cache } };
}

describe('resolveTemporal', () => {
  it('takes the named directory before everything else, with or without the web UI', async () => {
    const { bin, env } = await aMachine();
    await script(join(bin, 'temporal-server'), '');
    const official = await resolveTemporal({ bin, report, env });
    expect(official).toEqual({
      server: join(bin, 'temporal-server'),
      hasUi: false,
      sqlTool: join(bin, 'temporal-sql-tool'),
    });
    await script(join(bin, 'flotilla-temporal'), '');
    expect(await resolveTemporal({ bin, report, env })).toMatchObject({
      server: join(bin, 'flotilla-temporal'),
      hasUi: true,
    });
  });

  it('does not look further when the named directory has none', async () => {
    const { bin, env } = await aMachine();
    await expect(resolveTemporal({ bin: join(bin, 'absent'), report, env })).rejects.toThrow(
      /FLOTILLA_TEMPORAL_SERVER_DIR: .*absent has neither flotilla-temporal nor temporal-server/,
    );
  });
});

describe('the official download', () => {
  const files = ['temporal-server', 'temporal-sql-tool'];

  async function aRelease(status: number) {
    const source = await temporaryDirectory();
    for (const file of [...files, 'tdbg']) await script(join(source, file), `echo ${file}`);
    execFileSync('tar', ['-czf', 'release.tar.gz', ...files, 'tdbg'], { cwd: source });
    const archive = await readFile(join(source, 'release.tar.gz'));
    const requested: string[] = [];
    const server = createServer((request, response) => {
      requested.push(request.url ?? '');
      response.writeHead(status).end(archive);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requested };
  }

  it('unpacks the server and its schema tool of the pinned version, and nothing else', async () => {
    const { url, requested } = await aRelease(200);
    const directory = await temporaryDirectory();
    await downloadOfficial(directory, { report, env: process.env }, url);
    expect((await readdir(directory)).sort()).toEqual(files);
    expect(execFileSync(join(directory, 'temporal-server')).toString()).toBe('temporal-server\n');
    expect(requested).toEqual([expect.stringMatching(/^\/v1\.32\.0\/temporal_1\.32\.0_linux_(amd64|arm64)\.tar\.gz$/)]);
  });

  it('reports why there is none, and leaves nothing', async () => {
    const { url } = await aRelease(404);
    const directory = await temporaryDirectory();
    await expect(downloadOfficial(directory, { report, env: process.env }, url)).rejects.toThrow(/tar\.gz: status 404/);
    await expect(downloadOfficial(directory, { report, env: process.env }, 'http://127.0.0.1:2')).rejects.toThrow(
      /ECONNREFUSED/,
    );
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('resolveTestServer', () => {
  it('takes the named program, and names the setting when it is missing', async () => {
    const { bin, env } = await aMachine();
    const named = await script(join(bin, 'server'), '');
    await expect(resolveTestServer({ bin: named, report, env })).resolves.toBe(named);
    await expect(resolveTestServer({ bin: join(bin, 'absent'), report, env })).rejects.toThrow(
      /FLOTILLA_TEST_SERVER_BIN/,
    );
  });
});

describe('makeInCache', () => {
  const program = { directory: 'thing-1', file: 'thing' };

  it('makes a program once for all who want it at the same time', async () => {
    const { cache } = await aMachine();
    let made = 0;
    const make = async (directory: string): Promise<void> => {
      made += 1;
      await script(join(directory, 'thing'), 'echo');
    };
    const paths = await Promise.all([1, 2, 3].map(() => makeInCache(cache, program, report, make)));
    expect(new Set(paths)).toEqual(new Set([join(cache, 'thing-1/thing')]));
    expect(made).toBe(1);
  });

  it('leaves no file that could be taken for the program when the build fails', async () => {
    const { cache } = await aMachine();
    const make = async (directory: string): Promise<void> => {
      await writeFile(join(directory, 'thing'), 'half');
      throw new Error('no space');
    };
    await expect(makeInCache(cache, program, report, make)).rejects.toThrow('no space');
    await expect(findInCache(cache, program)).resolves.toBeNull();
    await expect(readdir(cache)).resolves.toEqual([]);
  });
});

describe('versions', () => {
  it('are compared as numbers', () => {
    expect(compareVersions('1.10.0', '1.9.9')).toBeGreaterThan(0);
    expect(compareVersions('1.5.1', '1.5.1')).toBe(0);
    expect(compareVersions('1.5.0', '1.5.1')).toBeLessThan(0);
  });

  it('are the same in the module that is built, in docker-compose.yml and here', async () => {
    const module = await readFile('tools/temporal-server/program/go.mod', 'utf8');
    expect(module).toMatch(new RegExp(`^\\s*go\\.temporal\\.io/server v${TEMPORAL_SERVER_VERSION}$`, 'm'));
    expect(module).toMatch(new RegExp(`^\\s*github\\.com/temporalio/ui-server/v2 v${TEMPORAL_UI_VERSION}$`, 'm'));
    const images = [...(await readFile('docker-compose.yml', 'utf8')).matchAll(/image: temporalio\/(\S+)/g)];
    expect(new Set(images.map(([, image]) => image))).toEqual(
      new Set([
        `server:${TEMPORAL_SERVER_VERSION}`,
        `admin-tools:${TEMPORAL_SERVER_VERSION}`,
        `ui:${TEMPORAL_UI_VERSION}`,
      ]),
    );
  });
});

describe('startTemporal', () => {
  const start = async (directory: string, server: string) => {
    const printed: string[] = [];
    const starting = startTemporal({
      programs: { server, hasUi: true, sqlTool: '' },
      store: { sqlite: join(directory, 'temporal.db') },
      ports: { host: '127.0.0.1', frontend: 1, internal: [2, 3, 4, 5, 6, 7, 8, 9], ui: null },
      namespace: 'flotilla',
      certificates: null,
      dynamicConfig: {},
      directory: join(directory, 'server'),
      logFile: join(directory, 'temporal.log'),
      env: process.env,
      report: (message) => printed.push(message),
    });
    return starting.then(
      () => ({ error: '', printed }),
      (error: Error) => ({ error: error.message, printed }),
    );
  };
  const broken = (directory: string) =>
    script(join(directory, 'flotilla-temporal'), 'echo "file is not a database"; exit 1');

  it('rejects a data file that a newer server used last', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'temporal.db.version'), '1.99.0\n');
    const { error } = await start(directory, await broken(directory));
    expect(error).toMatch(/last used by server 1\.99\.0/);
  });

  it('sets aside what an older server left, whose tables are others', async () => {
    const directory = await temporaryDirectory();
    for (const name of ['temporal.db', 'temporal.db-wal']) await writeFile(join(directory, name), 'old');
    await writeFile(join(directory, 'temporal.db.version'), '1.29.1\n');
    const { printed } = await start(directory, await broken(directory));
    expect(printed.join()).toContain('the Temporal data of server 1.29.1 were moved to');
    const left = (await readdir(directory)).filter((name) => name.startsWith('temporal.db'));
    expect(left.sort()).toEqual([
      'temporal.db-old',
      'temporal.db-old-wal',
      'temporal.db-old.version',
      'temporal.db.version',
    ]);
    expect((await start(directory, await broken(directory))).printed).toEqual([]);
  });

  it('reports the message of the server when it ends at once', async () => {
    const directory = await temporaryDirectory();
    const { error } = await start(directory, await broken(directory));
    expect(error).toMatch(/ended \(exit code 1\): file is not a database/);
  });
});

describe('a program that gets stuck', () => {
  it('is ended with everything it started when the search is interrupted', async () => {
    const { bin, env } = await aMachine();
    const stuck = await script(join(bin, 'temporal'), 'exec sleep 60');
    const sleeper = spawn(stuck, { stdio: 'ignore' });
    onTestFinished(() => void sleeper.kill('SIGKILL'));
    const { runTool } = await import('../../../tools/temporal-server/run-tool.ts');
    const interrupt = new AbortController();
    const running = runTool(stuck, [], { limitMs: 30_000, signal: interrupt.signal, env });
    interrupt.abort();
    await expect(running).rejects.toThrow('interrupted');
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  });
});
