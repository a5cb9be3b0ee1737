import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  dynamicConfig,
  httpAddress,
  serverConfig,
  type TemporalPorts,
  type TemporalStore,
  uiConfig,
} from './official-config.ts';
import type { OfficialPrograms } from './official-server.ts';
import { runTool } from './run-tool.ts';
import { type ServerProcess, startServer } from './server-process.ts';

export interface OfficialTemporalOptions {
  programs: OfficialPrograms;
  store: TemporalStore;
  ports: TemporalPorts;
  /** Takes the configuration, which holds the database's password; made when absent, readable by its owner alone. */
  directory: string;
  logFile: string;
  onSpawn?: (pid: number) => void;
  /** Ends a server that is not ready yet. */
  signal?: AbortSignal;
}

const READY_LIMIT_MS = 120_000;
const SCHEMA_LIMIT_MS = 120_000;
const UI_READY_LIMIT_MS = 60_000;

/**
 * Brings the schema of both databases up to date; the databases have to exist. Can be repeated.
 *
 * @throws with what the schema tool said
 */
export async function prepareStore(
  programs: OfficialPrograms,
  store: TemporalStore,
  signal?: AbortSignal,
): Promise<void> {
  const schemas = [
    { database: store.database, name: 'temporal' },
    { database: store.visibilityDatabase, name: 'visibility' },
  ];
  for (const { database, name } of schemas) {
    // By environment: other users of the machine can read arguments.
    const env = {
      SQL_PLUGIN: 'postgres12',
      SQL_HOST: store.host,
      SQL_PORT: String(store.port),
      SQL_USER: store.user,
      SQL_PASSWORD: store.password,
      SQL_DATABASE: database,
    };
    const run = (...args: string[]) => runTool(programs.sqlTool, args, { env, limitMs: SCHEMA_LIMIT_MS, signal });
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', `postgresql/v12/${name}`);
  }
}

/** Starts all parts of the server in one process and waits until the frontend answers. @throws when it does not */
export async function startOfficialTemporal(options: OfficialTemporalOptions): Promise<ServerProcess> {
  const { programs, store, ports, directory, logFile, onSpawn, signal } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const [file, dynamicFile] = [join(directory, 'server.yaml'), join(directory, 'dynamic.yaml')];
  await writeFile(dynamicFile, dynamicConfig(), { mode: 0o600 });
  await writeFile(file, serverConfig(store, ports, dynamicFile), { mode: 0o600 });
  return startServer({
    title: 'The Temporal server',
    program: programs.server,
    args: ['--config-file', file, '--allow-no-auth', 'start'],
    logFile,
    onSpawn,
    signal,
    serves: { url: `${httpAddress(ports)}/api/v1/namespaces`, host: ports.host, ports: [ports.frontend] },
    limitMs: READY_LIMIT_MS,
  });
}

/** Starts the web UI, which asks the server and, for what it shows, the codec endpoint. */
export async function startTemporalUi(
  options: Omit<OfficialTemporalOptions, 'store'> & { namespace: string; codecEndpoint: string },
): Promise<ServerProcess> {
  const { programs, ports, directory, logFile, onSpawn, signal } = options;
  await mkdir(join(directory, 'ui'), { recursive: true, mode: 0o700 });
  const config = uiConfig(ports, options.namespace, options.codecEndpoint);
  await writeFile(join(directory, 'ui', 'flotilla.yaml'), config, { mode: 0o600 });
  return startServer({
    title: 'The Temporal UI',
    program: programs.ui,
    args: ['--root', directory, '--config', 'ui', '--env', 'flotilla', 'start'],
    logFile,
    onSpawn,
    signal,
    serves: { url: `http://${ports.host}:${ports.ui}/`, host: ports.host, ports: [ports.ui] },
    limitMs: UI_READY_LIMIT_MS,
  });
}
