import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnLogged } from '../../src/logged-process.ts';
import { cliVersion } from './temporal-cli.ts';
import { compareVersions } from './versions.ts';

export interface LocalTemporalOptions {
  /** Path of a Temporal CLI. @see resolveTemporalCli */
  cli: string;
  ip?: string;
  port: number;
  /** Of the web UI; null for none. */
  uiPort: number | null;
  /** Of the HTTP API, which also tells readiness. */
  httpPort: number;
  /** SQLite file, made when absent; null keeps everything in memory. */
  databaseFile: string | null;
  /** Made at the start when absent. */
  namespace: string;
  /** Where the web UI has payloads decoded. */
  codecEndpoint?: string;
  logFile: string;
  /** Learns the process id as soon as there is one, before the server is ready. */
  onSpawn?: (pid: number) => void;
}

export interface LocalTemporal {
  pid: number;
  /** `host:port` of the gRPC frontend. */
  address: string;
  /** Settles with a short reason when the server ends, wanted or not. */
  exited: Promise<string>;
  /** Ends the server; its data file stays consistent, by force after the limit too. Idempotent. */
  stop(limitMs?: number): Promise<void>;
}

/** The data file was written by a newer server than the one at hand. */
export class NewerDataFile extends Error {
  override readonly name = 'NewerDataFile';
}

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 8000;

/** The defaults protect shared clusters; here they would only be measured as our own slowness. @see perf-reliability A1 */
const DYNAMIC_CONFIG = {
  'frontend.rps': 100_000,
  'frontend.namespaceRPS': 100_000,
  'frontend.namespaceRPS.visibility': 1000,
  'frontend.persistenceMaxQPS': 100_000,
  'history.rps': 100_000,
  'history.persistenceMaxQPS': 100_000,
  'matching.rps': 100_000,
  'matching.persistenceMaxQPS': 100_000,
  'matching.useNewMatcher': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // Profiles due at one moment: those above the limit are put off by seconds, again and again.
  'worker.schedulerNamespaceStartWorkflowRPS': 1000,
  // The server runs schedules itself, by two pollers; what they do not reach within 5 s is read anew from its history.
  'worker.perNamespaceWorkerOptions': { MaxConcurrentWorkflowTaskPollers: 16, StickyScheduleToStartTimeout: '60s' },
};

/**
 * Starts a Temporal server of the CLI and waits until it serves the namespace.
 *
 * @throws {NewerDataFile} when the data file was last used by a newer server
 * @throws when the server ends or is not ready within a minute
 * @see stack-notes 3
 */
export async function startLocalTemporal(options: LocalTemporalOptions): Promise<LocalTemporal> {
  const ip = options.ip ?? '127.0.0.1';
  if (options.databaseFile !== null) await checkDataFile(options.cli, options.databaseFile);
  const child = spawnLogged(options.cli, serverArguments(options, ip), {
    logFile: options.logFile,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TZ: 'UTC' },
  });
  if (child.pid) options.onSpawn?.(child.pid);
  let ended: string | null = null;
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  }).then((reason) => {
    ended = reason;
    return reason;
  });
  const server: LocalTemporal = {
    pid: child.pid ?? 0,
    address: `${ip}:${options.port}`,
    exited,
    stop: async (limitMs = STOP_LIMIT_MS) => {
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (ended !== null) return;
        child.kill(signal);
        await Promise.race([exited, sleep(limitMs, null, { ref: false })]);
      }
    },
  };
  const problem = await waitUntilServing(options, ip, () => ended);
  if (problem === null) return server;
  await server.stop();
  throw new Error(`The Temporal server ${problem}: ${await lastWords(options.logFile)} (log: ${options.logFile})`);
}

function serverArguments(options: LocalTemporalOptions, ip: string): string[] {
  const dynamic = Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
  ]);
  const ui = options.uiPort === null ? ['--headless'] : ['--ui-ip', ip, '--ui-port', String(options.uiPort)];
  const codec = options.codecEndpoint && options.uiPort !== null ? ['--ui-codec-endpoint', options.codecEndpoint] : [];
  // Without these two every commit costs an fsync of a rollback journal: 2 to 6 times slower.
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const file = options.databaseFile === null ? [] : ['--db-filename', options.databaseFile, ...pragmas];
  const addresses = ['--ip', ip, '--port', String(options.port), '--http-port', String(options.httpPort)];
  const quiet = ['--log-level', 'warn', '--disable-config-file', '--disable-config-env'];
  return [
    'server',
    'start-dev',
    ...addresses,
    '--namespace',
    options.namespace,
    ...ui,
    ...codec,
    ...file,
    ...dynamic,
    ...quiet,
  ];
}

async function waitUntilServing(options: LocalTemporalOptions, ip: string, ended: () => string | null) {
  const url = `http://${ip}:${options.httpPort}/api/v1/namespaces/${encodeURIComponent(options.namespace)}`;
  const end = performance.now() + READY_LIMIT_MS;
  while (performance.now() < end) {
    const reason = ended();
    if (reason !== null) return `ended (${reason})`;
    const serving = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok;
      },
      () => false,
    );
    const ports = options.uiPort === null ? [options.port] : [options.port, options.uiPort];
    if (serving && (await Promise.all(ports.map((port) => accepts(ip, port)))).every(Boolean)) return null;
    await sleep(25);
  }
  return `was not ready within ${READY_LIMIT_MS / 1000} s`;
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** A newer server changes the file in ways that an older one does not understand, so the last user is written beside it. */
async function checkDataFile(cli: string, file: string): Promise<void> {
  const record = `${file}.version`;
  const current = await cliVersion(cli);
  const last = await readFile(record, 'utf8').catch(() => '');
  const server = /^\d+\.\d+\.\d+/.exec(last)?.[0];
  if (server && compareVersions(server, current.server) > 0) {
    throw new NewerDataFile(
      `The Temporal data file ${file} was last used by server ${server}, and ${cli} brings server ${current.server}: ` +
        `use a Temporal CLI with server ${server} or newer (FLOTILLA_TEMPORAL_BIN), or move the file away to begin without workflows.`,
    );
  }
  await writeFile(record, `${current.server}\n`);
}

async function lastWords(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-2).join(' ').slice(-600) || 'it said nothing';
}
