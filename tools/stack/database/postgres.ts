import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPortFree } from '../processes/ports.ts';
import { isAlive, processesIn, signalProcess, waitUntil } from '../processes/processes.ts';
import { runAs, unprivilegedUser } from '../processes/unprivileged.ts';
import { StackError } from '../stack-error.ts';
import { ensureCluster } from './cluster.ts';
import { locatePostgres } from './postgres-binaries.ts';
import { failure, spawnAs } from './run-postgres.ts';

export interface PostgresOptions {
  /** Directory of the cluster, created if missing. Its parent has to exist. */
  dataDir: string;
  /** Listens on loopback only. */
  port: number;
  /** Of `postgres`, the superuser. Kept by the cluster from its first start on. */
  password: string;
  logFile: string;
  /** Superuser of a new cluster, if not `postgres`. */
  superuser?: string;
  /** False skips every flush to disk: for data that may be lost, as in tests. */
  durable?: boolean;
  /** Directory that keeps the cluster of which new ones are copies, which saves half a second each. */
  cache?: string;
  settings?: Readonly<Record<string, string>>;
  /** Called with the process id as soon as the process exists. */
  onSpawn?: (pid: number) => void;
  /** Stops a server that is not ready yet. */
  signal?: AbortSignal;
  /** Reports what a long start is waiting for. */
  report?: (message: string) => void;
  /** After which a server that does not get ready is stopped. */
  startLimitMs?: number;
}

export interface PostgresServer {
  pid: number;
  port: number;
  /** Connection string of a database of this server, for the superuser. */
  url(database: string): string;
  /** Resolves with a short reason when the server has ended. */
  exited: Promise<string>;
  /** Stops the server; kills it after the limit. Committed data is kept in either case. Idempotent. */
  stop(limitMs?: number): Promise<void>;
}

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5000;
const FORCE_LIMIT_MS = 500;
const SUPERUSER = 'postgres';

/** Settings for a server that serves Flotilla and Temporal; docker-compose.yml has the same. */
export const POSTGRES_SETTINGS = {
  // An API, gateway or worker may open 20, each of the four parts of the Temporal server 30.
  max_connections: '300',
  shared_buffers: '256MB',
  // Only serializable transactions need such locks; the default reserves memory for 64.
  max_pred_locks_per_transaction: '10',
  max_wal_size: '2GB',
  // Most of a large transaction's log is on disk before its commit has to wait.
  wal_writer_delay: '10ms',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

const LOOPBACK_ONLY = { listen_addresses: '127.0.0.1', unix_socket_directories: '' };

/**
 * Starts a PostgreSQL server on a data directory, after creating the cluster if there is none. A server that a killed
 * process left behind on the same directory is stopped first.
 * @throws {StackError} when the port is taken, the directory is broken, or the server does not start
 * @see docs/decisions/0008-embedded-stack-and-simulator.md#decision
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const { superuser = SUPERUSER } = options;
  const binaries = await locatePostgres();
  const user = await unprivilegedUser();
  const { password, logFile, durable = true, cache = null } = options;
  await ensureCluster(binaries, user, { dataDir: options.dataDir, password, superuser, logFile, durable, cache });
  const dataDir = await realpath(options.dataDir);
  await stopLeftoverServer(dataDir);
  if (!(await isPortFree('127.0.0.1', options.port))) {
    throw new StackError(`Port ${options.port} for PostgreSQL is in use: set FLOTILLA_DATABASE_PORT to a free one.`);
  }
  const fast = durable ? {} : FAST;
  const settings = { ...LOOPBACK_ONLY, ...POSTGRES_SETTINGS, ...fast, ...options.settings };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const as = runAs(user, [binaries.postgres, dataDir]);
  const command = [binaries.postgres, '-D', dataDir, '-p', String(options.port), ...args];
  const child = spawnAs(as, command, logFile);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  const pid = child.pid ?? 0;
  if (pid !== 0) options.onSpawn?.(pid);
  await waitUntilReady({ ...options, dataDir }, pid, exited);
  return {
    pid,
    port: options.port,
    url: (database) =>
      `postgres://${superuser}:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/${database}`,
    exited,
    stop: (limitMs) => stopServer(pid, exited, limitMs),
  };
}

const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/**
 * Stops a server that outlived the process that started it. Children of a killed server use the directory for a moment.
 * @throws {StackError} when the directory stays in use
 */
export async function stopLeftoverServer(path: string): Promise<void> {
  // /proc shows working directories without symbolic links.
  const dataDir = await realpath(path);
  const postmaster = await readPostmaster(dataDir);
  if (!postmaster) return;
  const holders = processesIn(dataDir);
  if (holders.includes(postmaster.pid)) {
    await stopServer(
      postmaster.pid,
      waitUntil(() => !isAlive(postmaster.pid), STOP_LIMIT_MS * 3).then(() => 'ended'),
    );
  }
  if (!(await waitUntil(() => processesIn(dataDir).length === 0, 10_000))) {
    throw new StackError(`Process ${processesIn(dataDir).join(', ')} still uses ${dataDir}: end it and start again.`);
  }
  // No process uses the directory, so the file is stale, even if its process id has been reused.
  await rm(join(dataDir, 'postmaster.pid'), { force: true });
}

async function readPostmaster(dataDir: string): Promise<{ pid: number; ready: boolean } | null> {
  const text = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n');
  return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
}

/** Waits as long as crash recovery takes, because interrupting it would start it over. */
async function waitUntilReady(
  { dataDir, logFile, signal, report, startLimitMs = START_LIMIT_MS }: PostgresOptions,
  pid: number,
  exited: Promise<string>,
): Promise<void> {
  let ended: string | null = null;
  void exited.then((reason) => {
    ended = reason;
  });
  let limit = performance.now() + startLimitMs;
  for (;;) {
    const state = await readPostmaster(dataDir);
    if (ended !== null) throw await failure(`PostgreSQL did not start (${ended})`, logFile);
    if (state?.pid === pid && state.ready) return;
    if (signal?.aborted) {
      await stopServer(pid, exited);
      throw new StackError('PostgreSQL was stopped before it was ready');
    }
    if (performance.now() > limit) {
      if (state?.pid !== pid) {
        signalProcess(pid, 'SIGQUIT');
        throw await failure(`PostgreSQL was not ready within ${startLimitMs / 1000} s`, logFile);
      }
      report?.(`PostgreSQL is recovering after a crash (log: ${logFile})`);
      limit += startLimitMs;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function stopServer(pid: number, exited: Promise<unknown>, limitMs = STOP_LIMIT_MS): Promise<void> {
  // Fast shutdown, then without a last checkpoint (recovery at the next start), then by force.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isAlive(pid)) return;
    signalProcess(pid, signal);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), signal === 'SIGINT' ? limitMs : FORCE_LIMIT_MS);
    });
    const done = await Promise.race([exited.then(() => true), limit]);
    clearTimeout(timer);
    if (done) return;
  }
}
