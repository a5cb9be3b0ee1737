import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { locatePostgres } from '../../stack/database/postgres-binaries.ts';
import { findFreePorts } from '../../stack/processes/ports.ts';
import { runAs, unprivilegedUser } from '../../stack/processes/unprivileged.ts';
import { resolveTemporal } from '../../temporal-server/programs.ts';
import type { ServerProcess } from '../../temporal-server/server-process.ts';
import { startTemporal } from '../../temporal-server/temporal-server.ts';
import type { BenchContext } from '../bench.ts';
import { startChild } from '../harness/child.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import { waitFor } from '../harness/wait.ts';

/** Seconds of each part of a start, alone and by its plain command. */
export interface BareParts {
  initdb: number;
  postgres: number;
  temporal: number;
  bundle: number;
}

const POLL = { everyMs: 10, limitMs: 60_000 };

/** Times the four parts one after another and stops everything it started. */
export async function measureBareParts({ resources, root }: BenchContext): Promise<BareParts> {
  const folder = resources.folder('flotilla-bench-bare-');
  const { initdb, postgres } = await barePostgres(resources, folder);
  const temporal = await bareTemporal(folder, resources.env);
  const bundle = await bareBundle(resources, join(root, 'workflows', 'index.ts'));
  return { initdb, postgres, temporal, bundle };
}

async function bareBundle(resources: Resources, workflowsPath: string): Promise<number> {
  const child = await startChild(resources, fileURLToPath(new URL('bare-bundle.ts', import.meta.url)));
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`bundling ended with code ${code}`)));
    child.once('message', (message: { seconds: number }) => resolve(message.seconds));
    child.send({ workflowsPath });
  });
}

async function barePostgres(resources: Resources, folder: string): Promise<{ initdb: number; postgres: number }> {
  const binaries = await locatePostgres();
  const user = await unprivilegedUser();
  const dataDir = join(folder, 'postgres');
  mkdirSync(dataDir, { mode: 0o700 });
  if (user) chownSync(dataDir, user.uid, user.gid);
  const { prefix, uid, gid } = runAs(user, [binaries.initdb, dataDir]);
  const options: SpawnOptions = {
    stdio: 'ignore',
    env: { LC_ALL: 'C' },
    cwd: '/',
    ...(uid === undefined ? {} : { uid, gid }),
  };
  const start = (command: readonly string[]) => {
    const [program, ...args] = [...prefix, ...command];
    return resources.spawn(program!, args, options);
  };
  const auth = ['--username=bench', '--auth=trust', '--encoding=UTF8', '--locale=C'];
  const initdb = await timed(() => succeeded(start([binaries.initdb, '-D', dataDir, ...auth])));
  const [port] = await findFreePorts(1);
  const settings = ['-p', String(port), '-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1'];
  let server: ChildProcess | undefined;
  const postgres = await timed(async () => {
    server = start([binaries.postgres, '-D', dataDir, ...settings]);
    await waitFor('PostgreSQL', () => responses(port!), POLL);
  });
  await stopProcess(server!);
  return { initdb, postgres };
}

async function bareTemporal(folder: string, env: Resources['env']): Promise<number> {
  const programs = await resolveTemporal({
    bin: env['FLOTILLA_TEMPORAL_SERVER_DIR'] ?? null,
    report: () => {},
    env,
  });
  const [port = 0, ...internal] = await findFreePorts(9);
  let server: ServerProcess | undefined;
  const seconds = await timed(async () => {
    server = await startTemporal({
      programs,
      store: { sqlite: join(folder, 'temporal.db') },
      ports: { host: '127.0.0.1', frontend: port, internal, ui: null },
      namespace: 'default',
      certificates: null,
      dynamicConfig: {},
      directory: join(folder, 'temporal'),
      logFile: join(folder, 'temporal.log'),
      env,
    });
    await waitFor('the Temporal server', () => serves(`127.0.0.1:${port}`), POLL);
  });
  await server?.stop();
  return seconds;
}

async function responses(port: number): Promise<true | null> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}

async function serves(address: string): Promise<true | null> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: 1000 });
    await connection.workflowService.describeNamespace({ namespace: 'default' });
    await connection.close();
    return true;
  } catch {
    return null;
  }
}

async function succeeded(child: ChildProcess): Promise<void> {
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${child.spawnfile} ended with code ${String(code)}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}
