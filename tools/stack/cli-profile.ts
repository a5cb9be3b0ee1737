import { writeFile } from 'node:fs/promises';
import { type Certificates, SERVER_NAME } from '../temporal-server/certificates.ts';

/**
 * Writes what the Temporal CLI needs to know of a stack, for `temporal --config-file`. It lets in whoever can read it: the
 * owner alone.
 */
export async function writeCliProfile(
  file: string,
  of: { address: string; namespace: string; certificates: Certificates; codecUrl: string; codecToken: string },
): Promise<void> {
  const { ca, client } = of.certificates;
  const line = (name: string, value: string): string => `${name} = ${JSON.stringify(value)}`;
  const text = [
    '[profile.default]',
    line('address', of.address),
    line('namespace', of.namespace),
    '[profile.default.tls]',
    line('server_name', SERVER_NAME),
    line('server_ca_cert_path', ca),
    line('client_cert_path', client.cert),
    line('client_key_path', client.key),
    '[profile.default.codec]',
    line('endpoint', of.codecUrl),
    line('auth', `Bearer ${of.codecToken}`),
  ];
  await writeFile(file, `${text.join('\n')}\n`, { mode: 0o600 });
}
