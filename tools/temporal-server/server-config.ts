import { stringify } from 'yaml';
import { type Certificates, SERVER_NAME } from './certificates.ts';
import type { DynamicValue } from './dynamic-config.ts';

/** A PostgreSQL server and the two databases of a Temporal server in it. */
export interface PostgresStore {
  host: string;
  port: number;
  user: string;
  password: string;
  /** For workflows and task queues. */
  database: string;
  /** For the index that lists workflows. */
  visibilityDatabase: string;
}

/** Where a Temporal server keeps its data: in PostgreSQL, in an SQLite file, or, without a file, in memory. */
export type TemporalStore = { postgres: PostgresStore } | { sqlite: string | null };

/** Where the server listens, all on one address. Two servers side by side need other numbers in each. */
export interface TemporalPorts {
  host: string;
  /** Of the gRPC frontend, the address that clients are given. */
  frontend: number;
  /** Of the frontend's HTTP API (also readiness), each other part's gRPC, and those only for the official server. */
  internal: readonly number[];
  /** Of the web UI; null for none. */
  ui: number | null;
}

/** How many ports `TemporalPorts.internal` has. */
export const INTERNAL_PORTS = 8;

/** History shards of a server on PostgreSQL; cannot be changed for existing databases. One machine needs few. */
const HISTORY_SHARDS = 16;

/**
 * The server's static configuration.
 * @param certificates - with them the server and its parts accept only calls of their owner; without, all calls
 * @param dynamicConfigFile - see {@link dynamicConfig}
 */
export function serverConfig(
  store: TemporalStore,
  ports: TemporalPorts,
  certificates: Certificates | null,
  dynamicConfigFile: string,
): string {
  const { host, frontend } = ports;
  const [http, history, matching, worker, ...membership] = ports.internal;
  const part = (grpcPort: number | undefined, place: number) => ({
    rpc: { grpcPort, membershipPort: membership[place], bindOnIP: host },
  });
  return stringify({
    log: { stdout: true, level: 'warn' },
    persistence: persistence(store),
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: host },
      ...(certificates && { tls: tls(certificates) }),
    },
    services: {
      frontend: { rpc: { ...part(frontend, 0).rpc, httpPort: http } },
      history: part(history, 1),
      matching: part(matching, 2),
      worker: part(worker, 3),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${host}:${frontend}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    publicClient: { hostPort: `${host}:${frontend}` },
    dynamicConfigClient: { filepath: dynamicConfigFile, pollInterval: '60s' },
  });
}

function tls({ ca, server, client }: Certificates) {
  const own = { certFile: server.cert, keyFile: server.key, requireClientAuth: true, clientCaFiles: [ca] };
  const others = { serverName: SERVER_NAME, rootCaFiles: [ca] };
  return {
    internode: { server: own, client: others },
    frontend: { server: own, client: others },
    systemWorker: { certFile: client.cert, keyFile: client.key, client: others },
  };
}

function persistence(store: TemporalStore) {
  const [workflows, visibility] =
    'postgres' in store
      ? [
          dataStore(store.postgres, store.postgres.database, 20),
          dataStore(store.postgres, store.postgres.visibilityDatabase, 10),
        ]
      : [sqliteStore(store.sqlite), sqliteStore(store.sqlite)];
  return {
    defaultStore: 'workflows',
    visibilityStore: 'visibility',
    numHistoryShards: 'postgres' in store ? HISTORY_SHARDS : 1,
    datastores: { workflows: { sql: workflows }, visibility: { sql: visibility } },
  };
}

function dataStore(store: PostgresStore, databaseName: string, connections: number) {
  return {
    pluginName: 'postgres12',
    databaseName,
    connectAddr: `${store.host.includes(':') ? `[${store.host}]` : store.host}:${store.port}`,
    connectProtocol: 'tcp',
    user: store.user,
    password: store.password,
    maxConns: connections,
    maxIdleConns: connections,
    maxConnLifetime: '1h',
  };
}

/** Both stores are the same: the server shares one connection between equal configurations. */
function sqliteStore(file: string | null) {
  const kept = {
    mode: 'rwc',
    setup: 'true',
    // Without these two every commit costs an fsync of a rollback journal: 2 to 6 times slower.
    journal_mode: 'WAL',
    synchronous: 'NORMAL',
  };
  return {
    pluginName: 'sqlite',
    databaseName: file ?? 'flotilla',
    connectAddr: 'localhost',
    connectProtocol: 'tcp',
    connectAttributes: file === null ? { mode: 'memory', cache: 'shared' } : kept,
    maxConns: 1,
    maxIdleConns: 1,
  };
}

/** The settings that can change while the server runs. */
export function dynamicConfig(values: Readonly<Record<string, DynamicValue>>): string {
  return stringify(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, [{ value }]])));
}
