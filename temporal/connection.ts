import { Client, Connection } from '@temporalio/client';
import type { Config } from '../src/config.ts';
import { createDataConverter } from './data-converter.ts';

/** What of the configuration a connection needs. */
export type TemporalSettings = Pick<Config, 'temporalAddress' | 'temporalNamespace' | 'encryptionKeys'>;

export interface TemporalClient {
  client: Client;
  close(): Promise<void>;
}

/** No call may hang on a server that went away: each ends within this. */
export const CALL_LIMIT_MS = 10_000;

/**
 * A client for our namespace with our data converter. Lazy: it connects with the first call and again after every
 * loss, so it never fails because the server is away.
 *
 * @throws when the address or the encryption keys are missing
 */
export async function connectClient(config: TemporalSettings): Promise<TemporalClient> {
  const connection = openConnection(config);
  const client = new Client({
    connection,
    namespace: config.temporalNamespace,
    dataConverter: createDataConverter(config.encryptionKeys),
  });
  return { client, close: () => connection.close() };
}

/** A lazy connection without a namespace, for bootstrap and health. */
export function openConnection(config: Pick<Config, 'temporalAddress'>): Connection {
  if (!config.temporalAddress) throw new Error('the address of the Temporal server is not set');
  return Connection.lazy({ address: config.temporalAddress, connectTimeout: CALL_LIMIT_MS });
}
