import { readFile, writeFile } from 'node:fs/promises';
import { LOCAL_DYNAMIC_CONFIG } from './dynamic-config.ts';
import { type ServerProcess, startServer } from './server-process.ts';
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
  /** Ends a server that is not ready yet. */
  signal?: AbortSignal;
}

export interface LocalTemporal extends ServerProcess {
  /** `host:port` of the gRPC frontend. */
  address: string;
}

/** The data file was written by a newer server than the one at hand. */
export class NewerDataFile extends Error {
  override readonly name = 'NewerDataFile';
}

const READY_LIMIT_MS = 60_000;

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
  const url = `http://${ip}:${options.httpPort}/api/v1/namespaces/${encodeURIComponent(options.namespace)}`;
  const server = await startServer({
    title: 'The Temporal server',
    program: options.cli,
    args: serverArguments(options, ip),
    logFile: options.logFile,
    onSpawn: options.onSpawn,
    signal: options.signal,
    serves: { url, host: ip, ports: options.uiPort === null ? [options.port] : [options.port, options.uiPort] },
    limitMs: READY_LIMIT_MS,
  });
  return { ...server, address: `${ip}:${options.port}` };
}

function serverArguments(options: LocalTemporalOptions, ip: string): string[] {
  const dynamic = Object.entries(LOCAL_DYNAMIC_CONFIG).flatMap(([key, value]) => [
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
