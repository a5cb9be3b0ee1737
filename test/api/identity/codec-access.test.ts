import { request } from 'node:http';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCodecAccess } from '../../../src/api/identity/codec-access.ts';
import type { Authenticator } from '../../../src/services/identity/login/authenticator.ts';
import { createMember } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

const UI = 'http://127.0.0.1:8233';
const TOKEN = 'a-token-of-the-codec-long-enough-for-all';
let database: TestDatabase;
let accountId: number;
let embedded: TestApp;
let remote: TestApp;

/** The frame with a codec that only reports whether the caller may use it. */
function createCodecApp(codecToken: string | null): Promise<TestApp> {
  const late: { authenticator?: Authenticator } = {};
  const authenticator: Pick<Authenticator, 'authenticate'> = {
    authenticate: (token) => late.authenticator!.authenticate(token),
  };
  const config = { codecToken, codecHosts: ['api'], publicUrl: 'https://flotilla.example.com', host: '0.0.0.0' };
  const access = createCodecAccess({ authenticator, config });
  const decode = express.Router().post('/decode', async (req, res) => {
    res.json({ allowed: await access.allow(req) });
  });
  const app = createTestApp(database.persistence, { codec: [access.guard, decode] });
  return app.then((made) => {
    late.authenticator = made.services.authenticator;
    return made;
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  embedded = await createCodecApp(TOKEN);
  remote = await createCodecApp(null);
});

afterAll(async () => {
  await embedded?.close();
  await remote?.close();
  await database?.drop();
});

const decode = (app: TestApp, token: string | null) => app.call('POST', '/codec/decode', { token, body: {} });

/** A request under another name, as a page sends it whose own name was made to lead here. */
function callAs(host: string): Promise<number> {
  const { hostname, port } = new URL(embedded.url);
  const headers = { host, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: '/codec/decode', method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject).end('{}');
  });
}

describe('the codec endpoint', () => {
  it('needs a token on this machine too', async () => {
    expect((await decode(embedded, null)).body).toEqual({ allowed: false });
    expect((await decode(embedded, `${TOKEN}x`)).body).toEqual({ allowed: false });
    expect((await decode(embedded, TOKEN)).body).toEqual({ allowed: true });
    expect((await decode(remote, TOKEN)).body).toEqual({ allowed: false });
  });

  it.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:9', '[::1]:8080', 'flotilla.example.com', 'api:8080'])(
    'is served under the name %s',
    async (host) => {
      expect(await callAs(host)).toBe(200);
    },
  );

  it.each(['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1'])(
    'is not served under the name %s',
    async (host) => {
      expect(await callAs(host)).toBe(403);
    },
  );

  it('takes the token of a person with ManageAccount', async () => {
    expect((await decode(remote, null)).body).toEqual({ allowed: false });
    expect((await decode(remote, 'nonsense')).body).toEqual({ allowed: false });
    const member = await createMember(database.persistence.db, {
      accountId,
      email: 'a@fleet.example',
      role: 'Auditor',
    });
    expect((await decode(remote, await remote.login(member))).body).toEqual({ allowed: false });
    expect((await decode(remote, await remote.login())).body).toEqual({ allowed: true });
  });

  it('rejects other methods with 405', async () => {
    const response = await embedded.call('GET', '/codec/decode');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('lets a Temporal UI call from another origin, which needs the token there, and nothing else of the server', async () => {
    const preflight = (app: TestApp, path: string, origin: string) =>
      app.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'POST' } });
    const allowed = await preflight(embedded, '/codec/decode', UI);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(UI);
    const api = await preflight(embedded, '/login', UI);
    expect(api.headers.get('access-control-allow-origin')).toBeNull();
  });
});
