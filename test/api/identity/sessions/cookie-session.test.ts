import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, PASSWORD } from '../../../../tools/harness/accounts.ts';
import {
  ADMIN,
  type ApiResponse,
  createAdmin,
  createTestApp,
  PUBLIC_URL,
  type TestApp,
} from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

const NAME = '__Host-flotilla_session';
const OWN = { 'x-requested-with': 'Flotilla' };

let database: TestDatabase;
let app: TestApp;
let nowMs = Date.now();
let round = 0;
let account: Awaited<ReturnType<typeof createAccount>>;
let cookie: string;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
  await createAdmin(database.persistence);
});

beforeEach(async () => {
  account = await createAccount(database.persistence.db, `home${++round}`);
  cookie = cookieOf(await logIn());
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const logIn = (more: object = {}, headers: Record<string, string> = OWN, at = app) =>
  at.call('POST', '/login', {
    body: { email: account.email, password: PASSWORD, session: 'cookie', ...more },
    headers,
  });
const call = (method: string, path: string, options: { body?: unknown; headers?: Record<string, string> } = {}) =>
  app.call(method, path, { body: options.body, headers: { cookie, ...OWN, ...options.headers } });
const events = async () =>
  (await database.persistence.db.query<{ n: number }>('select count(*)::int as n from event'))[0]!.n;

/** What the browser sends from now on. */
function cookieOf({ headers }: ApiResponse): string {
  return headers.getSetCookie()[0]!.split(';')[0]!;
}

function attributesOf({ headers }: ApiResponse): string[] {
  const [, ...attributes] = headers.getSetCookie()[0]!.split('; ');
  return attributes.filter((text) => !text.startsWith('Expires=')).sort();
}

const isCleared = ({ headers }: ApiResponse) =>
  headers.getSetCookie().some((text) => text.startsWith(`${NAME}=; `) && text.includes('Expires=Thu, 01 Jan 1970'));

const tokenIn = (pair: string) => pair.slice(pair.indexOf('=') + 1);

describe('POST /login with a session in a cookie', () => {
  it('sets a cookie that scripts cannot read, for the life of the token, and returns no token', async () => {
    const response = await logIn({ expiry_minutes: 90 });
    const plain = await logIn({ session: 'token' });
    const { token, ...rest } = plain.body;
    expect(response).toMatchObject({ status: 200, body: rest });
    expect(response.body).not.toHaveProperty('token');
    expect(response.text).not.toContain('eyJ');
    expect(attributesOf(response)).toEqual(['HttpOnly', 'Max-Age=5400', 'Path=/', 'SameSite=Strict', 'Secure']);
    const claims = jwt.decode(tokenIn(cookieOf(response))) as { exp: number; iat: number };
    expect(claims.exp - claims.iat).toBe(5400);
    expect(token).toMatch(/^eyJ/);
    expect(plain.headers.getSetCookie()).toEqual([]);
  });

  it('has a plain name without TLS', async () => {
    const local = await createTestApp(database.persistence, { publicUrl: 'http://127.0.0.1:8080' });
    try {
      const response = await logIn({}, OWN, local);
      expect(cookieOf(response)).toMatch(/^flotilla_session=eyJ/);
      expect(attributesOf(response)).not.toContain('Secure');
      const me = await local.call('GET', '/me', { headers: { cookie: `other=1; ${cookieOf(response)}; last=2` } });
      expect(me.status).toBe(200);
    } finally {
      await local.close();
    }
  });

  it('accepts an invitation on the way', async () => {
    const { body } = await call('POST', '/invitations', { body: { name: 'New', email: `new${round}@fleet.example` } });
    const more = { email: `new${round}@fleet.example`, password: 'correct battery', invitation_id: body.secure_id };
    const response = await logIn(more);
    expect(response.body).toEqual(expect.objectContaining({ name: 'New', current_account: `home${round}` }));
    expect((await app.call('GET', '/person', { headers: { cookie: cookieOf(response) } })).body.name).toBe('New');
  });

  it.each([
    ['without X-Requested-With', {}],
    ['with an empty X-Requested-With', { 'x-requested-with': '' }],
    ['from another origin', { ...OWN, origin: 'https://evil.example' }],
    ['from an opaque origin', { ...OWN, origin: 'null' }],
    ['from another site', { ...OWN, 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { ...OWN, 'sec-fetch-site': 'same-site' }],
  ])('is refused %s, and nothing is recorded', async (_, headers) => {
    const before = await events();
    for (const more of [{}, { password: 'wrong' }]) {
      const response = await logIn(more, headers as Record<string, string>);
      expect(response).toMatchObject({ status: 403, body: { error: 'CrossSiteRequest', code: 403 } });
      expect(response.headers.getSetCookie()).toEqual([]);
    }
    expect(await events()).toBe(before);
  });

  it('takes no other kind of session', async () => {
    const response = await logIn({ session: 'header' });
    expect(response).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
    expect((await logIn({ session: null }, {})).body.token).toMatch(/^eyJ/);
  });
});

describe('requests with a session in a cookie', () => {
  it('have the rights of the token, and the session without it', async () => {
    const response = await call('GET', '/me', { headers: { 'x-requested-with': '' } });
    expect(response).toMatchObject({ status: 200, body: { email: account.email, current_account: `home${round}` } });
    expect(response.body).not.toHaveProperty('token');
    expect((await call('POST', '/roles', { body: { name: 'Helpers' } })).status).toBe(201);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['this host', () => ({ origin: app.url, 'sec-fetch-site': 'same-origin' })],
    ['the public address, behind a proxy', () => ({ origin: PUBLIC_URL })],
    ['a browser that names no origin', () => ({ 'sec-fetch-site': 'none' })],
  ])('may come from %s', async (_, headers) => {
    expect((await call('POST', '/roles', { body: { name: 'Helpers' }, headers: headers() })).status).toBe(201);
  });

  it.each([
    ['without X-Requested-With', { 'x-requested-with': '' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://127.0.0.1:1' }],
    ['from a public address by another scheme', { origin: PUBLIC_URL.replace('https', 'http') }],
    ['from an opaque origin', { origin: 'null' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('change nothing %s', async (_, headers) => {
    const before = await events();
    const sent = { body: { name: 'Helpers' }, headers: headers as Record<string, string> };
    for (const [method, path] of [
      ['POST', '/roles'],
      ['POST', '/logout'],
      ['PATCH', '/preferences'],
      ['DELETE', '/roles/Auditor'],
    ] as const) {
      expect(await call(method, path, sent)).toMatchObject({ status: 403, body: { error: 'CrossSiteRequest' } });
    }
    expect(await events()).toBe(before);
    expect((await call('GET', '/person')).status).toBe(200);
  });

  it('cannot be read by other sites, and GETs that act are changes', async () => {
    const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
    for (const headers of foreign) {
      const response = await call('GET', '/person', { headers });
      expect(response).toMatchObject({ status: 403, body: { error: 'CrossSiteRequest' } });
    }
    const key = await call('GET', '/computers/1/recovery-key', { headers: { 'x-requested-with': '' } });
    expect(key.body.error).toBe('CrossSiteRequest');
    expect((await call('GET', '/computers/1/recovery-key')).body.error).toBe('UnknownComputer');
  });

  it('are not needed where there is a bearer token, which wins', async () => {
    const token = await app.login(ADMIN);
    const both = await call('GET', '/me', {
      headers: { authorization: `Bearer ${token}`, 'sec-fetch-site': 'cross-site' },
    });
    expect(both.body).toMatchObject({ email: ADMIN.email, token });
    const wrong = await call('GET', '/me', { headers: { authorization: 'Basic eDp5' } });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.getSetCookie()).toEqual([]);
    await call('POST', '/logout', { headers: { authorization: `Bearer ${token}` } });
    expect((await call('GET', '/me')).status).toBe(200);
  });

  it.each([
    ['malformed', () => `${NAME}=nonsense`],
    ['empty', () => `${NAME}=`],
    ['of another server', () => `${NAME}=${jwt.sign({ id: 1 }, 'another secret')}`],
  ])('get 401 when the token is %s, and the browser forgets it', async (_, value) => {
    const response = await call('GET', '/person', { headers: { cookie: value() } });
    expect(response).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(isCleared(response)).toBe(true);
  });

  it('get 401 when the token has expired, and the browser forgets it', async () => {
    nowMs += 1441 * 60_000;
    const response = await call('GET', '/person');
    expect(response).toMatchObject({ status: 401, body: { error: 'Unauthorized' } });
    expect(isCleared(response)).toBe(true);
  });

  it('without one are unauthorized as before', async () => {
    const response = await app.call('GET', '/person', { headers: { cookie: 'flotilla_session=x; theme=dark' } });
    expect(response.status).toBe(401);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it('count against the address while the token is invalid', async () => {
    const traffic = { api: { perSecond: 0.001, burst: 2 }, enrolment: null, maxWaiting: 10 };
    const limited = await createTestApp(database.persistence, { settings: { traffic } });
    try {
      const invalid = () => limited.call('GET', '/person', { headers: { cookie: `${NAME}=x` } });
      const forged = () => limited.call('POST', '/roles', { body: {}, headers: { cookie: `${NAME}=x` } });
      expect([(await invalid()).status, (await forged()).status]).toEqual([401, 403]);
      expect([(await invalid()).status, (await forged()).status]).toEqual([429, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe('the end of a session in a cookie', () => {
  const ended = async (response: ApiResponse) => {
    expect(response.status).toBeLessThan(300);
    expect(isCleared(response)).toBe(true);
    expect((await app.call('GET', '/person', { token: tokenIn(cookie) })).status).toBe(401);
  };

  it('comes with a logout', async () => {
    const response = await call('POST', '/logout');
    expect(response.body).toEqual({});
    await ended(response);
  });

  it('comes with a new password', async () => {
    await ended(await call('PUT', '/password', { body: { password: PASSWORD, new_password: 'another horse' } }));
  });

  it('does not come with a wrong password', async () => {
    const response = await call('PUT', '/password', { body: { password: 'wrong', new_password: 'another horse' } });
    expect(response.body.error).toBe('AuthenticationFailed');
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each(['me', 'account'])('comes with /tokens/invalidate-%s', async (whose) => {
    await ended(await call('POST', `/tokens/invalidate-${whose}`));
  });

  it('comes with what an operator invalidates, if it is the own account', async () => {
    cookie = cookieOf(await logIn({ email: ADMIN.email, password: ADMIN.password }));
    const other = await call('POST', `/tokens/invalidate-system/account/home${round}`);
    expect(other.status).toBe(204);
    expect(other.headers.getSetCookie()).toEqual([]);
    await ended(await call('POST', '/tokens/invalidate-system/account/standalone'));
    cookie = cookieOf(await logIn({ email: ADMIN.email, password: ADMIN.password }));
    await ended(await call('POST', '/tokens/invalidate-system'));
  });
});

describe('POST /switch-account with a session in a cookie', () => {
  it('sets the cookie again, for the rest of its life, and returns no token', async () => {
    const { db } = database.persistence;
    const second = await createAccount(db, `second${round}`);
    await db.query('insert into membership values ($1, $2, now())', [second.accountId, account.personId]);
    nowMs += 10 * 60_000;
    const response = await call('POST', '/switch-account', { body: { account_name: `second${round}` } });
    expect(response).toMatchObject({ status: 200, body: {}, text: '{}' });
    expect(attributesOf(response)).toContain('Max-Age=85800');
    cookie = cookieOf(response);
    expect((await call('GET', '/me')).body.current_account).toBe(`second${round}`);
    expect(
      (await call('POST', '/switch-account', { body: { account_name: 'standalone' } })).headers.getSetCookie(),
    ).toEqual([]);
  });
});
