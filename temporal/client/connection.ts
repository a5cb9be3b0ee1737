import { readFileSync } from 'node:fs';
import { Client, Connection, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { Config } from '../../src/process/config.ts';
import { currentTracer, isRecording } from '../../src/process/tracing.ts';
import { callInterceptors } from './closed-calls.ts';
import { createDataConverter } from '../encryption/data-converter.ts';

export type TemporalSettings = ServerSettings & Pick<Config, 'temporalNamespace' | 'encryptionKeys'>;

export type ServerSettings = Pick<Config, 'temporalAddress'> & Partial<Pick<Config, 'temporalTls'>>;

export interface TemporalClient {
  client: Client;
  close(): Promise<void>;
}

/** For `withDeadline` around every call that must not hang when the server is down. */
export const CALL_LIMIT_MS = 10_000;

/** Passes the current trace, if any, to the workflows that a client starts. */
const TRACED_STARTS: WorkflowClientInterceptor = {
  startWithDetails(input, next) {
    if (!isRecording()) return next(input);
    return new OpenTelemetryWorkflowClientInterceptor({ tracer: currentTracer() }).startWithDetails(input, next);
  },
};

/** Connects on the first call and again after every loss. @throws without an address or encryption keys */
export async function connectClient(config: TemporalSettings): Promise<TemporalClient> {
  const connection = openConnection(config);
  return { client: createClient(config, connection), close: () => connection.close() };
}

/** A client on an open connection, which may be that of a worker. @throws without encryption keys */
export function createClient(
  { temporalNamespace, encryptionKeys }: Pick<TemporalSettings, 'temporalNamespace' | 'encryptionKeys'>,
  connection: ConnectionLike,
): Client {
  return new Client({
    connection,
    namespace: temporalNamespace,
    dataConverter: createDataConverter(encryptionKeys),
    interceptors: { workflow: [TRACED_STARTS] },
  });
}

/** A lazy connection without a namespace, for bootstrap and health. */
export function openConnection(settings: ServerSettings): Connection {
  return Connection.lazy({
    ...serverOptions(settings),
    connectTimeout: CALL_LIMIT_MS,
    interceptors: callInterceptors(),
  });
}

/** Address and encryption of every connection, also of workers. @throws without address, or for an unreadable file */
export function serverOptions(
  settings: ServerSettings,
): Pick<NativeConnectionOptions, 'tls' | 'apiKey'> & { address: string } {
  const { temporalAddress: address, temporalTls } = settings;
  if (!address) throw new Error('the address of the Temporal server is not set');
  if (!temporalTls?.enabled) return { address };
  const { caFile, certFile, keyFile, serverName, apiKey } = temporalTls;
  const clientCertPair = certFile && keyFile ? { crt: readFileSync(certFile), key: readFileSync(keyFile) } : null;
  return {
    address,
    tls: {
      ...(caFile && { serverRootCACertificate: readFileSync(caFile) }),
      ...(clientCertPair && { clientCertPair }),
      ...(serverName && { serverNameOverride: serverName }),
    },
    ...(apiKey && { apiKey }),
  };
}
