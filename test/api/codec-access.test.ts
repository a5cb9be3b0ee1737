import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codecAccess } from '../../src/api/codec-access.ts';
import type { Authenticator } from '../../src/services/authenticator.ts';
import { createMember } from '../support/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const UI = 'http://127.0.0.1:8233';
let database: TestDatabase;
let accountId: number;
let embedded: TestApp;
let remote: TestApp;

/** The frame with a codec that only tells whether the caller may use it. */
function createCodecApp(isEmbedded: boolean): Promise<TestApp> {
  const late: { authenticator?: Authenticator } = {};
  const authenticator: Pick<Authenticator, 'authenticate'> = {
    authenticate: (token) => late.authenticator!.authenticate(token),
  };
  const access = codecAccess({ authenticator, embedded: isEmbedded, uiPort: 8233 });
  const decode = express.Router().post('/decode', async (req, res) => {
    res.json({ allowed: await access.allow(req) });
  });
  const app = createTestApp(database.persistence, { codec: [access.cors, decode] });
  return app.then((made) => {
    late.authenticator = made.services.authenticator;
    return made;
  });
}

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  embedded = await createCodecApp(true);
  remote = await createCodecApp(false);
});

afterAll(async () => {
  await embedded?.close();
  await remote?.close();
  await database?.drop();
});

const decode = (app: TestApp, token: string | null) => app.call('POST', '/codec/decode', { token, body: {} });

describe('the codec endpoint', () => {
  it('needs no token from this machine in the embedded stack', async () => {
    expect((await decode(embedded, null)).body).toEqual({ allowed: true });
  });

  it('needs one beyond a proxy on this machine', async () => {
    for (const name of ['X-Forwarded-For', 'Forwarded']) {
      const answer = await fetch(`${embedded.url}/codec/decode`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          [name]: name === 'Forwarded' ? 'for=203.0.113.5' : '203.0.113.5',
        },
        body: '{}',
      });
      expect(await answer.json()).toEqual({ allowed: false });
    }
  });

  it('needs a token with ManageAccount elsewhere', async () => {
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

  it('answers other methods with 405', async () => {
    const answer = await embedded.call('GET', '/codec/decode');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('lets the Temporal UI in from its own origin, and nothing else of the server', async () => {
    const preflight = (app: TestApp, path: string, origin: string) =>
      app.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'POST' } });
    const allowed = await preflight(embedded, '/codec/decode', UI);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(UI);
    const foreign = await preflight(embedded, '/codec/decode', 'https://evil.example');
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    const api = await preflight(embedded, '/login', UI);
    expect(api.headers.get('access-control-allow-origin')).toBeNull();
  });
});
