import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Certificates, SERVER_NAME } from './certificates.ts';
import type { DynamicValue } from './dynamic-config.ts';
import type { TemporalPrograms } from './programs.ts';
import { runTool, type ToolOptions } from './run-tool.ts';
import {
  dynamicConfig,
  type PostgresStore,
  serverConfig,
  type TemporalPorts,
  type TemporalStore,
} from './server-config.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { compareVersions, OLDEST_DATA_VERSION, TEMPORAL_SERVER_VERSION } from './versions.ts';

export interface TemporalServerOptions {
  programs: TemporalPrograms;
  store: TemporalStore;
  ports: TemporalPorts;
  /** Created at the start if the store is SQLite. */
  namespace: string;
  /** Keyword search attributes that the namespace is created with; others take the server seconds to know. */
  searchAttributes?: readonly string[];
  /** With them only their owner can use the server; without, everybody who reaches its ports. */
  certificates: Certificates | null;
  /** Settings of the web UI; absent without one. */
  ui?: { token: string; codecUrl: string; codecToken: string };
  dynamicConfig: Readonly<Record<string, DynamicValue>>;
  /** For the configuration, which contains secrets; created if missing, readable by its owner only. */
  directory: string;
  logFile: string;
  /** Gives the server its PATH and HOME, and nothing else. */
  env: Record<string, string | undefined>;
  /** Called with the process id as soon as the process exists. */
  onSpawn?: (pid: number) => void;
  /** Stops a server that is not ready yet. */
  signal?: AbortSignal;
  report?: (message: string) => void;
}

/** The data file was written by a newer server. */
export class NewerDataFile extends Error {
  override readonly name = 'NewerDataFile';
}

const READY_LIMIT_MS = 120_000;
const SCHEMA_LIMIT_MS = 120_000;

/**
 * Starts all parts of a Temporal server, with its web UI, in one process and waits until it serves.
 * @throws {NewerDataFile} when an SQLite file was last used by a newer server
 * @throws when the server ends or is not ready in time
 */
export async function startTemporal(options: TemporalServerOptions): Promise<ServerProcess> {
  const { programs, store, ports, certificates, directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ('sqlite' in store && store.sqlite !== null) await checkDataFile(store.sqlite, options.report);
  const [server, dynamic, ui] = ['server.yaml', 'dynamic.yaml', 'ui.json'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const write = (file: string, text: string): Promise<void> => writeFile(file, text, { mode: 0o600 });
  await write(dynamic, dynamicConfig(options.dynamicConfig));
  await write(server, serverConfig(store, ports, certificates, dynamic));
  const showsUi = programs.hasUi && ports.ui !== null && options.ui !== undefined;
  if (showsUi) await write(ui, JSON.stringify(uiSettings(options)));
  const attributes = (options.searchAttributes ?? []).join(',');
  const namespace = 'sqlite' in store ? ['-namespace', options.namespace, '-search-attributes', attributes] : [];
  return startServer({
    title: 'The Temporal server',
    program: programs.server,
    args: programs.hasUi
      ? ['-server', server, ...namespace, ...(showsUi ? ['-ui', ui] : [])]
      : ['--config-file', server, '--allow-no-auth', 'start'],
    logFile: options.logFile,
    env: options.env,
    onSpawn: options.onSpawn,
    signal: options.signal,
    serves: {
      url: `${certificates ? 'https' : 'http'}://${ports.host}:${ports.internal[0]}/api/v1/namespaces`,
      certificates,
      host: ports.host,
      ports: showsUi ? [ports.frontend, ports.ui!] : [ports.frontend],
    },
    limitMs: READY_LIMIT_MS,
  });
}

function uiSettings({ ports, namespace, certificates, ui }: TemporalServerOptions): object {
  return {
    host: ports.host,
    port: ports.ui,
    serverAddress: `${ports.host}:${ports.frontend}`,
    namespace,
    ...ui,
    ...(certificates && {
      serverName: SERVER_NAME,
      caFile: certificates.ca,
      certFile: certificates.client.cert,
      keyFile: certificates.client.key,
    }),
  };
}

/**
 * Brings the schema of both databases up to date; the databases have to exist. Can be repeated.
 * @throws with the output of the schema tool
 */
export async function prepareStore(
  programs: TemporalPrograms,
  store: PostgresStore,
  options: Pick<ToolOptions, 'env' | 'signal'>,
): Promise<void> {
  const schemas = [
    { database: store.database, name: 'temporal' },
    { database: store.visibilityDatabase, name: 'visibility' },
  ];
  for (const { database, name } of schemas) {
    // By environment: other users of the machine can read arguments.
    const env = {
      ...options.env,
      SQL_PLUGIN: 'postgres12',
      SQL_HOST: store.host,
      SQL_PORT: String(store.port),
      SQL_USER: store.user,
      SQL_PASSWORD: store.password,
      SQL_DATABASE: database,
    };
    const run = (...args: string[]) => runTool(programs.sqlTool, args, { ...options, env, limitMs: SCHEMA_LIMIT_MS });
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', `postgresql/v12/${name}`);
  }
}

/**
 * The SQLite schema changes with the server's versions, so the version that used the file last is written beside it.
 * Data of an older one is moved aside: the reconciler restarts open work from the application's database.
 */
async function checkDataFile(file: string, report?: (message: string) => void): Promise<void> {
  const record = `${file}.version`;
  const text = await readFile(record, 'utf8').catch(() => '');
  const last = /^\d+\.\d+\.\d+/.exec(text)?.[0];
  if (last && compareVersions(last, TEMPORAL_SERVER_VERSION) > 0) {
    throw new NewerDataFile(
      `The Temporal data file ${file} was last used by server ${last}, and this is ${TEMPORAL_SERVER_VERSION}: ` +
        'use the newer Flotilla, or move the file away to start without workflows.',
    );
  }
  const exists = await stat(file).catch(() => null);
  if (exists && compareVersions(last ?? '0.0.0', OLDEST_DATA_VERSION) < 0) {
    for (const name of await readdir(dirname(file))) {
      if (!name.startsWith(`${basename(file)}`) || name.startsWith(`${basename(file)}-old`)) continue;
      const suffix = name.slice(basename(file).length);
      await rename(join(dirname(file), name), `${file}-old${suffix}`);
    }
    report?.(`the Temporal data of server ${last ?? 'unknown'} were moved to ${file}-old; open work is started again`);
  }
  await writeFile(record, `${TEMPORAL_SERVER_VERSION}\n`);
}
