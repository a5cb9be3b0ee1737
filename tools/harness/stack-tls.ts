import { join } from 'node:path';
import type { TemporalTlsSettings } from '../../src/process/config.ts';
import { certificatesIn, SERVER_NAME } from '../temporal-server/certificates.ts';

/** How the owner of a stack reaches its Temporal server. @param dataDir - of the stack; `topology` below it for that one */
export function stackTls(dataDir: string): TemporalTlsSettings {
  const { ca, client } = certificatesIn(join(dataDir, 'temporal', 'tls'));
  return {
    enabled: true,
    caFile: ca,
    certFile: client.cert,
    keyFile: client.key,
    serverName: SERVER_NAME,
    apiKey: null,
  };
}
