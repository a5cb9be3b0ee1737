import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLocalTemporal } from '../../../temporal/server/local-temporal.ts';
import { findInCache, makeInCache } from '../../../temporal/server/program-cache.ts';
import { resolveTemporalCli } from '../../../temporal/server/temporal-cli.ts';
import { resolveTestServer } from '../../../temporal/server/test-server.ts';
import { compareVersions, parseCliVersion, TEMPORAL_CLI_VERSION } from '../../../temporal/server/versions.ts';
import { script, temporaryDirectory } from '../../support/temporary.ts';

const cliOf = (version: string, server = '1.29.1'): string =>
  `echo "temporal version ${version} (Server ${server}, UI 2.42.1)"`;
const report = (): void => undefined;

/** An empty PATH and an empty cache. */
async function aMachine() {
  const directory = await temporaryDirectory();
  const [bin, cache] = [join(directory, 'bin'), join(directory, 'cache')];
  await mkdir(bin);
  await mkdir(cache);
  return { bin, cache: join(cache, 'flotilla'), env: { PATH: bin, XDG_CACHE_HOME: cache } };
}

describe('resolveTemporalCli', () => {
  it('takes the named program before everything else', async () => {
    const { bin, env } = await aMachine();
    await script(join(bin, 'temporal'), cliOf('1.9.0'));
    const named = await script(join(bin, 'mine'), cliOf('1.5.1'));
    await expect(resolveTemporalCli({ bin: named, report, env })).resolves.toBe(named);
  });

  it('does not look further when the named program is missing, none at all or too old', async () => {
    const { bin, env } = await aMachine();
    await script(join(bin, 'temporal'), cliOf('1.9.0'));
    const resolve = (path: string) => resolveTemporalCli({ bin: path, report, env });
    await expect(resolve(join(bin, 'absent'))).rejects.toThrow(/FLOTILLA_TEMPORAL_BIN: .*absent does not exist/);
    await expect(resolve(await script(join(bin, 'other'), 'echo hello'))).rejects.toThrow(/is not a Temporal CLI/);
    await expect(resolve(await script(join(bin, 'old'), cliOf('1.4.9')))).rejects.toThrow(
      /has version 1\.4\.9, older than/,
    );
  });

  it('takes one on the PATH that is new enough, else the cache', async () => {
    const { bin, cache, env } = await aMachine();
    const cached = join(cache, `temporal-cli-${TEMPORAL_CLI_VERSION}`);
    await mkdir(cached, { recursive: true });
    await script(join(cached, 'temporal'), 'exit 1');
    await expect(resolveTemporalCli({ bin: null, report, env })).resolves.toBe(join(cached, 'temporal'));
    await script(join(bin, 'temporal'), cliOf('1.4.0'));
    await expect(resolveTemporalCli({ bin: null, report, env })).resolves.toBe(join(cached, 'temporal'));
    await script(join(bin, 'temporal'), cliOf('1.10.0'));
    await expect(resolveTemporalCli({ bin: null, report, env })).resolves.toBe(join(bin, 'temporal'));
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

  it('leaves nothing behind that could be taken for the program when making it fails', async () => {
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

  it('are read from what the CLI prints, and only from that', () => {
    expect(parseCliVersion('temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)\n')).toEqual({
      cli: '1.5.1',
      server: '1.29.1',
    });
    expect(parseCliVersion('temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)')?.cli).toBe('0.0.0');
    expect(parseCliVersion('v20.1.0')).toBeNull();
  });
});

describe('startLocalTemporal', () => {
  const place = async (directory: string, cli: string) => ({
    cli,
    port: 1,
    httpPort: 2,
    uiPort: null,
    databaseFile: join(directory, 'temporal.db'),
    namespace: 'flotilla',
    logFile: join(directory, 'temporal.log'),
  });

  it('refuses a data file that a newer server used last', async () => {
    const directory = await temporaryDirectory();
    const cli = await script(join(directory, 'temporal'), cliOf('1.5.1'));
    await writeFile(join(directory, 'temporal.db.version'), '1.31.0\n');
    await expect(startLocalTemporal(await place(directory, cli))).rejects.toThrow(/last used by server 1\.31\.0/);
  });

  it('says what the server said when it ends at once', async () => {
    const directory = await temporaryDirectory();
    const cli = await script(
      join(directory, 'temporal'),
      `case $1 in --version) ${cliOf('1.5.1')};; *) echo "file is not a database"; exit 1;; esac`,
    );
    await expect(startLocalTemporal(await place(directory, cli))).rejects.toThrow(
      /ended \(exit code 1\): file is not a database/,
    );
    await access(join(directory, 'temporal.db.version'));
  });
});

describe('a program that gets stuck', () => {
  it('is ended with everything it started when the search is interrupted', async () => {
    const { bin, env } = await aMachine();
    const stuck = await script(join(bin, 'temporal'), 'exec sleep 60');
    const sleeper = spawn(stuck, { stdio: 'ignore' });
    onTestFinished(() => void sleeper.kill('SIGKILL'));
    const { runTool } = await import('../../../temporal/server/run-tool.ts');
    const interrupt = new AbortController();
    const running = runTool(stuck, [], { limitMs: 30_000, signal: interrupt.signal, env });
    interrupt.abort();
    await expect(running).rejects.toThrow('interrupted');
    sleeper.kill('SIGKILL');
    await once(sleeper, 'exit');
  });
});
