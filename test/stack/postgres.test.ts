import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type PostgresOptions,
  type PostgresServer,
  startPostgres,
  stopLeftoverServer,
} from '../../tools/stack/database/postgres.ts';
import { findFreePort } from '../../tools/stack/processes/ports.ts';
import { isAlive, processesIn, signalProcess, waitUntil } from '../../tools/stack/processes/processes.ts';
import { runAs, unprivilegedUser } from '../../tools/stack/processes/unprivileged.ts';
import { script, temporaryDirectory } from '../support/common/process.ts';

async function aPlace(): Promise<PostgresOptions> {
  const directory = await temporaryDirectory();
  return {
    dataDir: join(directory, 'postgres'),
    port: await findFreePort(),
    password: 'p@ss/word',
    logFile: join(directory, 'postgres.log'),
    durable: false,
    settings: { shared_buffers: '16MB', max_connections: '10' },
  };
}

/** A place whose server can be made a standby, which serves nobody. */
async function aStandbyPlace(): Promise<PostgresOptions> {
  const place = await aPlace();
  return { ...place, settings: { ...place.settings, wal_level: 'replica', hot_standby: 'off' } };
}

async function started(options: PostgresOptions): Promise<PostgresServer> {
  const server = await startPostgres(options);
  onTestFinished(() => server.stop());
  return server;
}

async function query(server: PostgresServer, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

describe('startPostgres', () => {
  it('makes a cluster that only its password opens, and finds the data again after a stop', async () => {
    const place = await aPlace();
    const first = await started(place);
    await query(first, 'create table kept as select 7 as n');
    const outsider = new pg.Client({ connectionString: first.url('postgres').replace(/:[^:@]+@/, ':wrong@') });
    await expect(outsider.connect()).rejects.toThrow(/password authentication failed/);
    await first.stop();
    await expect(first.exited).resolves.toBe('exit code 0');
    const second = await started(place);
    await expect(query(second, 'select n from kept')).resolves.toEqual([{ n: 7 }]);
    expect((await stat(place.dataDir)).mode & 0o777).toBe(0o700);
  });

  it('copies the cluster that it made before, with a password of its own; a broken one is replaced', async () => {
    const cache = await temporaryDirectory();
    await (await started({ ...(await aPlace()), cache })).stop();
    const [template, ...others] = await readdir(cache);
    expect([template, others]).toEqual([expect.stringMatching(/^postgres-18\.\d/), []]);
    const mark = join(cache, template!, 'copied');
    await writeFile(mark, '');

    const password = "it's \\ another";
    const copy = { ...(await aPlace()), cache, password };
    const server = await started(copy);
    expect(await stat(join(copy.dataDir, 'copied'))).toBeDefined();
    expect((await stat(copy.dataDir)).mode & 0o777).toBe(0o700);
    expect(await query(server, 'select current_user as name')).toEqual([{ name: 'postgres' }]);
    const former = new pg.Client({ connectionString: server.url('postgres').replace(/:[^:@]+@/, ':p%40ss%2Fword@') });
    await expect(former.connect()).rejects.toThrow(/password authentication failed/);
    expect(await readFile(copy.logFile, 'utf8')).not.toContain('another');
    await server.stop();

    await rm(join(cache, template!, 'global'), { recursive: true });
    const after = { ...(await aPlace()), cache };
    expect(await query(await started(after), 'select 1 as n')).toEqual([{ n: 1 }]);
    await expect(stat(join(after.dataDir, 'copied'))).rejects.toThrow('ENOENT');
  });

  it('ends and replaces a server that a killed process left on the directory', async () => {
    const place = await aPlace();
    const leftover = await started(place);
    await query(leftover, 'create table kept as select 8 as n');
    const heir = await started({ ...place, port: await findFreePort() });
    expect(isAlive(leftover.pid)).toBe(false);
    await expect(query(heir, 'select n from kept')).resolves.toEqual([{ n: 8 }]);
  });

  it('starts again after the server was killed', async () => {
    const place = await aPlace();
    const killed = await started(place);
    signalProcess(killed.pid, 'SIGKILL');
    await expect(killed.exited).resolves.toBe('killed by SIGKILL');
    const heir = await started(place);
    await expect(query(heir, 'select 1 as n')).resolves.toEqual([{ n: 1 }]);
  });

  it('finds a leftover on a directory that is reached by a link', async () => {
    const place = await aPlace();
    const leftover = await started(place);
    await rename(place.dataDir, `${place.dataDir}.moved`);
    await symlink(`${place.dataDir}.moved`, place.dataDir);
    await stopLeftoverServer(place.dataDir);
    expect(isAlive(leftover.pid)).toBe(false);
  });

  it('waits for a server that recovers, however long', async () => {
    const place = await aStandbyPlace();
    await (await started(place)).stop();
    // A standby that serves nobody is in recovery until it is promoted.
    await writeFile(join(place.dataDir, 'standby.signal'), '');
    const reports: string[] = [];
    let pid = 0;
    const starting = started({
      ...place,
      startLimitMs: 3000,
      report: (message) => reports.push(message),
      onSpawn: (spawned) => {
        pid = spawned;
      },
    });
    await expect.poll(() => reports.length, { timeout: 60_000 }).toBeGreaterThan(0);
    await writeFile(join(place.dataDir, 'promote'), '');
    signalProcess(pid, 'SIGUSR1');
    await expect(query(await starting, 'select 1 as n')).resolves.toEqual([{ n: 1 }]);
    expect(reports[0]).toContain('recovering');
  });

  it('leaves nothing running when it is ended before it is ready', async () => {
    const place = await aStandbyPlace();
    await (await started(place)).stop();
    await writeFile(join(place.dataDir, 'standby.signal'), '');
    const stopping = new AbortController();
    const starting = startPostgres({ ...place, signal: stopping.signal, onSpawn: () => stopping.abort() });
    await expect(starting).rejects.toThrow('was stopped before it was ready');
    await expect(waitUntil(() => processesIn(place.dataDir).length === 0, 3000)).resolves.toBe(true);
  });

  it('is not misled by a lock file whose process id belongs to another program', async () => {
    const place = await aPlace();
    await (await started(place)).stop();
    const outsider = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void outsider.kill('SIGKILL'));
    await writeFile(
      join(place.dataDir, 'postmaster.pid'),
      `${outsider.pid}\n${place.dataDir}\n0\n${place.port}\n\n\n\nready\n`,
    );
    const server = await started(place);
    await expect(query(server, 'select 1 as n')).resolves.toEqual([{ n: 1 }]);
    expect(isAlive(outsider.pid!)).toBe(true);
  });

  it('names the setting when the port is taken', async () => {
    const place = await aPlace();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(place.port, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    await expect(startPostgres(place)).rejects.toThrow(/Port \d+ for PostgreSQL is in use: set FLOTILLA_DATABASE_PORT/);
  });

  it('rejects a directory that is something else, and one of another version', async () => {
    const place = await aPlace();
    await mkdir(place.dataDir);
    await expect(startPostgres(place)).rejects.toThrow(/not a PostgreSQL data directory/);
    await writeFile(join(place.dataDir, 'PG_VERSION'), '16\n');
    await expect(startPostgres(place)).rejects.toThrow(/was made by PostgreSQL 16/);
  });

  it('reports the message of the server when the cluster is broken', async () => {
    const place = await aPlace();
    await (await started(place)).stop();
    await writeFile(join(place.dataDir, 'postgresql.conf'), 'nonsense = yes\n');
    await expect(startPostgres(place)).rejects.toThrow(/did not start .*nonsense/);
    await expect(readFile(place.logFile, 'utf8')).resolves.toContain('nonsense');
  });

  it('leaves nothing running when its start fails', async () => {
    const place = await aPlace();
    await (await started(place)).stop();
    await writeFile(join(place.dataDir, 'postgresql.conf'), 'nonsense = yes\n');
    await startPostgres(place).catch(() => undefined);
    await expect(waitUntil(() => processesIn(place.dataDir).length === 0, 3000)).resolves.toBe(true);
  });

  it('works below a directory that is closed to other users', async () => {
    const place = await aPlace();
    await chmod(join(place.dataDir, '..'), 0o700);
    const server = await started(place);
    await expect(query(server, 'select 1 as n')).resolves.toEqual([{ n: 1 }]);
  });
});

describe('runAs', () => {
  it('lets a program look at and run files below a directory that is closed to its user', async () => {
    const directory = await temporaryDirectory();
    const program = await script(join(directory, 'program'), 'id -u');
    await chmod(directory, 0o700);
    const user = await unprivilegedUser();
    const { prefix, uid, gid } = runAs(user, [program]);
    // The shell calls access(2), which ignores rights that the program itself would have.
    const [command = '', ...args] = [...prefix, '/bin/sh', '-c', `test -x ${program} && ${program}`];
    const { stdout } = await promisify(execFile)(command, args, { uid, gid, cwd: '/' });
    expect(Number(stdout)).toBe(user?.uid ?? process.getuid?.());
  });
});
