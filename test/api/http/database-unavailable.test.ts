import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { createTcpProxy } from '../../../tools/harness/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

let database: TestDatabase;
let proxy: Awaited<ReturnType<typeof createTcpProxy>>;
let persistence: Persistence;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  const url = new URL(database.url);
  proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${proxy.port}`;
  persistence = await openPersistence({ url: url.href, poolSize: 3, applicationName: 'away' });
  app = await createTestApp(persistence);
});

afterAll(async () => {
  await app?.close();
  await persistence?.close();
  await proxy?.cut();
  await database?.drop();
});

describe('while PostgreSQL is unavailable', () => {
  it('responds with 503 and Retry-After, is alive but not ready, and recovers by itself', async () => {
    const token = await app.login();
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    await proxy.cut();
    const responses = [
      await app.call('GET', '/computers', { token }),
      await app.call('POST', '/login', { body: { email: ADMIN.email, password: ADMIN.password } }),
      await app.call('GET', '/standalone-account'),
    ];
    for (const response of responses) {
      expect(response.body).toEqual({ error: 'ServiceUnavailable', message: expect.any(String), code: 503 });
      expect(response.headers.get('retry-after')).toBe('2');
    }
    expect((await app.call('GET', '/readyz')).body).toMatchObject({ code: 503, details: [{ path: 'database' }] });
    expect((await app.call('GET', '/healthz')).status).toBe(200);
    await proxy.mend();
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    expect((await app.call('GET', '/readyz')).status).toBe(200);
  });
});
