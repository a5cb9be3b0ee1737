import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, loadConfig, localHost } from '../../../src/process/config.ts';
import { simulationKey } from '../../../src/services/computers/simulated-computers.ts';
import { type Certificates, SERVER_NAME } from '../../temporal-server/certificates.ts';
import type { DataDirectory } from '../data-directory.ts';
import type { StackSecrets } from '../secrets.ts';

export const PROJECT = resolve(import.meta.dirname, '../../..');

/** Absolute path of the data directory. */
export function resolveDataDir(config: Pick<Config, 'dataDir'>): string {
  return config.dataDir === '.flotilla' ? join(PROJECT, '.flotilla') : resolve(config.dataDir);
}

/** Name of the first database of the embedded PostgreSQL. */
export const DATABASE = 'flotilla';

/** The role that owns it, with the parameters its functions set. */
export const APPLICATION_ROLE = { name: 'flotilla', databases: [DATABASE], parameters: ['flotilla.forgets_events'] };

/** Connection string of our database in the embedded PostgreSQL. */
export function embeddedDatabaseUrl(config: Config, secrets: StackSecrets): string {
  return `postgres://${APPLICATION_ROLE.name}:${encodeURIComponent(secrets.databasePassword)}@127.0.0.1:${config.databasePort}/${DATABASE}`;
}

/** Addresses of the started servers. */
export interface Backends {
  databaseUrl: string;
  temporalAddress: string;
  /** Of the embedded Temporal server; null with an external one. */
  certificates: Certificates | null;
}

/**
 * Settings of the stack's processes: those of the user, plus addresses and secrets of the stack.
 * @remarks The first administrator's password is left out: only the stack needs it.
 */
export function processEnvironment(
  env: Record<string, string | undefined>,
  config: Config,
  data: DataDirectory,
  secrets: StackSecrets,
  backends: Backends,
): Record<string, string | undefined> {
  const { FLOTILLA_ADMIN_PASSWORD: _unneeded, ...inherited } = env;
  const encryptionKeys = env['FLOTILLA_ENCRYPTION_KEYS']?.trim() || secrets.encryptionKeys;
  const keys = loadConfig({ FLOTILLA_ENCRYPTION_KEYS: encryptionKeys }, 'stack').encryptionKeys;
  return {
    // Each thread that allocates gets memory of its own from glibc, up to eight times the cores, and returns little of it.
    MALLOC_ARENA_MAX: '2',
    // Its default, but fixed: glibc raises it to the size of what was freed, and then large buffers leave gaps in those arenas.
    MALLOC_MMAP_THRESHOLD_: '131072',
    ...inherited,
    FLOTILLA_EMBEDDED: 'true',
    FLOTILLA_DATA_DIR: data.root,
    FLOTILLA_DATABASE_URL: backends.databaseUrl,
    FLOTILLA_TEMPORAL_ADDRESS: backends.temporalAddress,
    ...(backends.certificates && tlsSettings(backends.certificates)),
    FLOTILLA_JWT_SECRET: config.jwtSecrets.join(',') || secrets.jwtSecret,
    FLOTILLA_ENCRYPTION_KEYS: encryptionKeys,
    FLOTILLA_CODEC_TOKEN: config.codecToken ?? secrets.codecToken,
    FLOTILLA_TEMPORAL_UI_URL:
      config.temporalUiUrl ?? (backends.certificates && hasUi(data) ? embeddedUiUrl(config) : ''),
    FLOTILLA_REGISTRATION_KEY: simulationKey(keys) ?? '',
  };
}

/** Address of the list of workflows in the embedded web UI. */
export function embeddedUiUrl({ temporalUiPort, temporalNamespace }: Config): string {
  return `http://127.0.0.1:${temporalUiPort}/namespaces/${temporalNamespace}/workflows`;
}

/** Only the official server has none, which is known from the second start on. */
function hasUi({ root }: DataDirectory): boolean {
  const server = join(root, 'temporal', 'server');
  return !existsSync(join(server, 'server.yaml')) || existsSync(join(server, 'ui.json'));
}

function tlsSettings({ ca, client }: Certificates): Record<string, string> {
  return {
    FLOTILLA_TEMPORAL_TLS: 'true',
    FLOTILLA_TEMPORAL_TLS_CA: ca,
    FLOTILLA_TEMPORAL_TLS_CERT: client.cert,
    FLOTILLA_TEMPORAL_TLS_KEY: client.key,
    FLOTILLA_TEMPORAL_TLS_SERVER_NAME: SERVER_NAME,
  };
}

/** Base address of the API as this machine reaches it, whatever the public one is. */
export function localUrl(config: Config): string {
  return `http://${localHost(config.host)}:${config.port}`;
}

/**
 * Commands of our processes, with bounded young generations (MiB of each half). Most garbage is buffers outside the
 * heap, freed only by a collection, and V8's defaults on a large machine let many of them accumulate.
 */
export const API_COMMAND: readonly string[] = ['--max-semi-space-size=16', 'src/server/main.ts'];
export const WORKER_COMMAND: readonly string[] = ['--max-semi-space-size=2', 'workers/main.ts'];

export const COMMANDS = {
  api: () => API_COMMAND,
  worker: () => [...WORKER_COMMAND, '--queues', 'fleet-activity,fleet-schedule,fleet-report'],
  fleet: (config: Config, data: DataDirectory, url = localUrl(config)) => [
    'tools/simulator/main.ts',
    '--computers',
    String(config.simulatedComputers),
    '--state',
    data.fleetState,
    '--url',
    url,
  ],
} as const;
