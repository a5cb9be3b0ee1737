import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { startPostgres } from '../../../tools/stack/database/postgres.ts';
import { findFreePort } from '../../../tools/stack/processes/ports.ts';
import { unprivilegedUser } from '../../../tools/stack/processes/unprivileged.ts';
import { type Authority, createAuthority, HAS_OPENSSL } from '../../support/http/servers.ts';
import { temporaryDirectory } from '../../support/common/process.ts';

/** The driver checks a name, not the address behind it. */
const NAMES = ['DNS:localhost'];
const title = 'PostgreSQL over TLS';

describe.skipIf(!HAS_OPENSSL)(HAS_OPENSSL ? title : `${title} (skipped: there is no openssl)`, () => {
  let right: Authority;
  let wrong: Authority;
  let directory: string;
  let url: string;

  beforeEach(async () => {
    directory = await temporaryDirectory();
    right = createAuthority(directory, 'right');
    wrong = createAuthority(directory, 'wrong');
  });

  /** Starts a server that has a certificate. */
  async function start(names: readonly string[]): Promise<void> {
    const { cert, key } = right.sign('database', names);
    const user = await unprivilegedUser();
    if (user) for (const file of [cert, key]) await chown(file, user.uid, user.gid);
    await chmod(key, 0o600);
    const server = await startPostgres({
      dataDir: join(directory, 'postgres'),
      port: await findFreePort(),
      password: 'secret',
      logFile: join(directory, 'postgres.log'),
      durable: false,
      settings: {
        ...{ shared_buffers: '16MB', max_connections: '10' },
        ...{ ssl: 'on', ssl_cert_file: cert, ssl_key_file: key },
      },
    });
    onTestFinished(() => server.stop());
    url = server.url('postgres');
  }

  async function open(parameters: Record<string, string>): Promise<Persistence> {
    const address = new URL(url.replace('127.0.0.1', 'localhost'));
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    const persistence = await openPersistence({
      url: address.href,
      poolSize: 2,
      applicationName: 'encrypted',
      lazy: true,
    });
    onTestFinished(() => persistence.close());
    return persistence;
  }

  it('is encrypted on all pools with sslmode=verify-full and the authority of the server', async () => {
    await start(NAMES);
    const { db, genericPlanDb } = await open({ sslmode: 'verify-full', sslrootcert: right.ca });
    for (const pool of [db, genericPlanDb]) {
      expect(await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);
    }
  });

  it('is rejected with the authority of somebody else, and without any', async () => {
    await start(NAMES);
    const strange = await open({ sslmode: 'verify-full', sslrootcert: wrong.ca });
    await expect(strange.db.query('select 1')).rejects.toThrow(/certificate/i);
    const unknown = await open({ sslmode: 'verify-full' });
    await expect(unknown.db.query('select 1')).rejects.toThrow(/certificate/i);
  });

  it('is rejected where the certificate is of another name', async () => {
    await start(['DNS:database.example']);
    const renamed = await open({ sslmode: 'verify-full', sslrootcert: right.ca });
    await expect(renamed.db.query('select 1')).rejects.toThrow(/altnames|does not match/i);
  });
});
