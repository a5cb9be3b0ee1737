import { stringify } from 'yaml';
import { type DynamicValue, SERVER_DYNAMIC_CONFIG } from './dynamic-config.ts';

/** A PostgreSQL server and the two databases of a Temporal server in it. */
export interface TemporalStore {
  host: string;
  port: number;
  user: string;
  password: string;
  /** Of workflows and task queues. */
  database: string;
  /** Of the index by which workflows are listed. */
  visibilityDatabase: string;
}

/** Where the server listens, all on one address. Two servers side by side need other numbers in each. */
export interface TemporalPorts {
  host: string;
  /** Of the gRPC frontend, the address that clients are given. */
  frontend: number;
  /** First of eight consecutive ports: HTTP of the frontend, membership of the frontend, and gRPC and membership of each other part. */
  internal: number;
  ui: number;
}

/** How many ports from `TemporalPorts.internal` on are used. */
export const INTERNAL_PORTS = 8;

/** Address of the frontend's HTTP API, which also tells readiness. */
export function httpAddress(ports: TemporalPorts): string {
  return `http://${ports.host}:${ports.internal}`;
}

/** The server's static configuration. @param dynamicConfigFile - @see dynamicConfig */
export function serverConfig(store: TemporalStore, ports: TemporalPorts, dynamicConfigFile: string): string {
  const { host, frontend, internal } = ports;
  const part = (grpc: number, membership: number) => ({
    rpc: { grpcPort: grpc, membershipPort: membership, bindOnIP: host },
  });
  return stringify({
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'workflows',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: {
        workflows: { sql: dataStore(store, store.database, 20) },
        visibility: { sql: dataStore(store, store.visibilityDatabase, 10) },
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: host } },
    services: {
      frontend: { rpc: { ...part(frontend, internal + 1).rpc, httpPort: internal } },
      history: part(internal + 2, internal + 3),
      matching: part(internal + 4, internal + 5),
      worker: part(internal + 6, internal + 7),
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

/** Over how many parts a server spreads its workflows; cannot be changed for databases that exist. One machine needs few. */
const HISTORY_SHARDS = 16;

function dataStore(store: TemporalStore, databaseName: string, connections: number) {
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

/** The settings that can change while the server runs. */
export function dynamicConfig(values: Readonly<Record<string, DynamicValue>> = SERVER_DYNAMIC_CONFIG): string {
  return stringify(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, [{ value }]])));
}

/** The configuration of the web UI. */
export function uiConfig(ports: TemporalPorts, namespace: string, codecEndpoint: string): string {
  return stringify({
    temporalGrpcAddress: `${ports.host}:${ports.frontend}`,
    host: ports.host,
    port: ports.ui,
    enableUi: true,
    defaultNamespace: namespace,
    disableNewsFetch: true,
    cors: { allowOrigins: [`http://${ports.host}:${ports.ui}`] },
    codec: { endpoint: codecEndpoint, passAccessToken: true },
  });
}
