import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Certificates are made by openssl: where it is not there, what needs them is left out and says so. */
export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** PEM files of a certificate and of its key. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Certificates of one authority, as an operator would make them. */
export interface Authority {
  /** PEM file of its own certificate. */
  ca: string;
  /** @param names - of a server, such as `DNS:localhost` or `IP:127.0.0.1`; none for a client */
  sign(name: string, names?: readonly string[]): Certificate;
}

/** Makes an authority that signs whatever it is asked to, with all its files in `directory`. */
export function createAuthority(directory: string, name: string): Authority {
  const at = (file: string): string => join(directory, `${name}-${file}`);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const [ca, key] = [at('ca.pem'), at('ca.key')];
  const constraints = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  openssl('req', '-x509', ...newKey, '-keyout', key, '-out', ca, '-days', '2', '-subj', `/CN=${name}`, ...constraints);
  return {
    ca,
    sign(who, names = []) {
      const made = { cert: at(`${who}.pem`), key: at(`${who}.key`) };
      const [request, extensions] = [at(`${who}.csr`), at(`${who}.ext`)];
      const usage = names.length > 0 ? `serverAuth\nsubjectAltName=${names.join(',')}` : 'clientAuth';
      writeFileSync(extensions, `basicConstraints=CA:FALSE\nextendedKeyUsage=${usage}\n`);
      openssl('req', ...newKey, '-keyout', made.key, '-out', request, '-subj', `/CN=${who}`);
      const authority = ['-CA', ca, '-CAkey', key, '-CAcreateserial', '-days', '2'];
      openssl('x509', '-req', '-in', request, '-out', made.cert, '-extfile', extensions, ...authority);
      return made;
    },
  };
}
