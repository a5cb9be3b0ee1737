import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig, readSecretFiles } from '../../../src/process/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'flotilla-secrets-'));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

afterAll(() => rmSync(directory, { recursive: true }));

describe('settings in files', () => {
  const key = Buffer.alloc(32, 7).toString('base64');

  it('reads secrets without the white space around them', () => {
    const env = {
      FLOTILLA_JWT_SECRET_FILE: file('jwt', `${'s'.repeat(40)}\n`),
      FLOTILLA_ENCRYPTION_KEYS_FILE: file('keys', `k1:${key}\n`),
      FLOTILLA_DATABASE_URL_FILE: file('url', 'postgres://a:b@c/d\n'),
    };
    const config = loadConfig({ ...env, FLOTILLA_TEMPORAL_ADDRESS: 'temporal:7233' }, 'process');
    expect(config.jwtSecrets).toEqual(['s'.repeat(40)]);
    expect(config.encryptionKeys.map(({ id }) => id)).toEqual(['k1']);
    expect(config.databaseUrl).toBe('postgres://a:b@c/d');
  });

  it('removes the names of files from the environment', () => {
    const { env } = readSecretFiles({ A: '1', FLOTILLA_JWT_SECRET_FILE: file('other', 'secret') });
    expect(env).toEqual({ A: '1', FLOTILLA_JWT_SECRET: 'secret' });
  });

  it('names what is wrong with each, and never a secret', () => {
    const load = () =>
      loadConfig(
        {
          FLOTILLA_JWT_SECRET: 'inline-secret-of-more-than-32-characters',
          FLOTILLA_JWT_SECRET_FILE: file('jwt2', 'secret-in-a-file'),
          FLOTILLA_ENCRYPTION_KEYS_FILE: join(directory, 'absent'),
          FLOTILLA_DATABASE_URL_FILE: file('empty', '\n'),
          FLOTILLA_SMTP_URL_FILE: file('smtp', 'not-a-url-but-secret'),
        },
        'stack',
      );
    expect(load).toThrow(/FLOTILLA_JWT_SECRET_FILE and FLOTILLA_JWT_SECRET exclude each other/);
    expect(load).toThrow(/FLOTILLA_ENCRYPTION_KEYS_FILE names a file that cannot be read: \S+absent \(ENOENT\)/);
    expect(load).toThrow(/FLOTILLA_DATABASE_URL_FILE names an empty file/);
    expect(load).toThrow(/FLOTILLA_SMTP_URL must be a URL/);
    expect(load).not.toThrow(/secret-of|secret-in|but-secret/);
  });
});

describe('TLS to the Temporal server', () => {
  it('is off by default and on with any of its settings', () => {
    expect(loadConfig({}, 'stack').temporalTls.enabled).toBe(false);
    expect(loadConfig({ FLOTILLA_TEMPORAL_TLS: 'true' }, 'stack').temporalTls.enabled).toBe(true);
    expect(loadConfig({ FLOTILLA_TEMPORAL_API_KEY: 'abc' }, 'stack').temporalTls.enabled).toBe(true);
  });

  it('rejects half a certificate, a missing file, and false besides the others', () => {
    const load = () =>
      loadConfig({ FLOTILLA_TEMPORAL_TLS: 'no', FLOTILLA_TEMPORAL_TLS_CERT: join(directory, 'absent') }, 'stack');
    expect(load).toThrow(/FLOTILLA_TEMPORAL_TLS_CERT names a file that cannot be read/);
    expect(load).toThrow(/FLOTILLA_TEMPORAL_TLS_CERT and FLOTILLA_TEMPORAL_TLS_KEY must be given together/);
    expect(load).toThrow(/FLOTILLA_TEMPORAL_TLS must not be false/);
  });
});
