import { createHmac, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../src/api/app/server.ts';
import { createAccount, createMember } from '../../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, JWT_SECRET, type TestApp } from '../../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let good: string;
let claims: Record<string, unknown>;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
  good = await app.login();
  claims = jwt.decode(good) as Record<string, unknown>;
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token of our form with any header and claims, signed with any key. */
function forge(header: unknown, payload: unknown, key: string | null = JWT_SECRET): string {
  const input = `${encode(header)}.${typeof payload === 'string' ? payload : encode(payload)}`;
  return `${input}.${key === null ? '' : createHmac('sha256', key).update(input).digest('base64url')}`;
}

async function expectRejected(token: string): Promise<void> {
  const response = await app.call('GET', '/person', { token });
  expect(response.body).toMatchObject({ error: 'Unauthorized', code: 401 });
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
}

const HS256 = { alg: 'HS256', typ: 'JWT' };

describe('bearer tokens', () => {
  it('carry what the specification names', () => {
    expect(claims).toMatchObject({
      sub: 'admin@fleet.example',
      acc: 'standalone',
      id: expect.any(Number),
      jti: expect.any(String),
    });
    expect((claims['exp'] as number) - (claims['iat'] as number)).toBe(1440 * 60);
  });

  it('are needed', async () => {
    expect((await app.call('GET', '/person')).body.error).toBe('Unauthorized');
    for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', `Bearer ${good} x`, `Bearer${good}`]) {
      expect((await app.call('GET', '/person', { headers: { authorization } })).status).toBe(401);
    }
    expect((await app.call('GET', '/person', { headers: { authorization: `bearer ${good}` } })).status).toBe(200);
  });

  it('JWT-none: are rejected without a signature', async () => {
    for (const alg of ['none', 'nOnE', 'NONE', '', undefined]) {
      await expectRejected(forge({ alg, typ: 'JWT' }, claims, null));
      await expectRejected(forge({ alg, typ: 'JWT' }, claims));
    }
  });

  it('JWT-confusion: are rejected under any other algorithm or key source', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const alg of ['RS256', 'ES256', 'HS384', 'HS512']) {
      await expectRejected(forge({ alg, typ: 'JWT' }, claims, pem));
      await expectRejected(forge({ alg, typ: 'JWT' }, claims, ''));
    }
    for (const alg of ['HS384', 'HS512'] as const)
      await expectRejected(jwt.sign(claims, JWT_SECRET, { algorithm: alg }));
    expect((await app.call('GET', '/person', { token: jwt.sign(claims, JWT_SECRET) })).status).toBe(200);
  });

  it('JWT-confusion: are rejected with the key they name, which nobody fetches', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = publicKey.export({ format: 'jwk' });
    let fetched = 0;
    const listener = createServer((_, res) => {
      fetched++;
      res.end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const link = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    for (const source of [{ jwk }, { jku: link }, { x5u: link }, { kid: '../../dev/null' }, { kid: "' or 1=1 --" }]) {
      const header = { alg: 'RS256' as const, ...source };
      await expectRejected(jwt.sign(claims, privateKey, { algorithm: 'RS256', header }));
      await expectRejected(forge({ ...HS256, ...source }, claims, ''));
      await expectRejected(forge({ ...HS256, ...source }, claims, JSON.stringify(jwk)));
    }
    await expectRejected(forge({ ...HS256, jwk: { kty: 'oct', k: '' } }, claims, ''));
    expect(fetched).toBe(0);
    await new Promise((resolve) => listener.close(resolve));
  });

  it('JWT-wrongkey, JWT-bitflip: are rejected under another key and with any byte of the signature changed', async () => {
    await expectRejected(forge(HS256, claims, 'another secret of the tests that is long enough'));
    const [head, payload, signature] = good.split('.');
    const bytes = Buffer.from(signature!, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1;
      await expectRejected(`${head}.${payload}.${flipped.toString('base64url')}`);
    }
  });

  it('JWT-expired, JWT-nbf, JWT-skew: are rejected from the second they name on, before nbf, and from far ahead', async () => {
    const now = Math.floor(nowMs / 1000);
    await expectRejected(forge(HS256, { ...claims, exp: now - 1 }));
    await expectRejected(forge(HS256, { ...claims, exp: now }));
    await expectRejected(forge(HS256, { ...claims, nbf: now + 60 }));
    await expectRejected(forge(HS256, { ...claims, nbf: now + 1 }));
    await expectRejected(forge(HS256, { ...claims, iat: now + 3600 }));
    await expectRejected(forge(HS256, { ...claims, iat: now + 31 }));
    expect((await app.call('GET', '/person', { token: forge(HS256, { ...claims, iat: now + 30 }) })).status).toBe(200);
    expect((await app.call('GET', '/person', { token: forge(HS256, { ...claims, exp: now + 5 }) })).status).toBe(200);
  });

  it('JWT-expired: are rejected once expired, though used a moment ago', async () => {
    const token = forge(HS256, { ...claims, exp: Math.floor(nowMs / 1000) + 1 });
    expect((await app.call('GET', '/person', { token })).status).toBe(200);
    nowMs += 1000;
    await expectRejected(token);
  });

  it('JWT-types: are rejected with claims of other types or out of shape', async () => {
    const wrong: Array<Record<string, unknown>> = [
      { sub: { a: 1 } },
      { exp: '9999999999' },
      { id: '1' },
      { id: -1 },
      { acc: null },
      { ep: [0, 0] },
      { ep: '000' },
      { jti: 7 },
    ];
    for (const change of wrong) await expectRejected(forge(HS256, { ...claims, ...change }));
    await expectRejected(forge(HS256, encode(claims).replace(/^/, '')).replace(/\./, '..'));
    const text = (change: (json: string) => string) =>
      Buffer.from(change(JSON.stringify(claims))).toString('base64url');
    for (const exp of ['1e400', '-1e400', '1e308', '1.5e9', 'null', '[]', 'true']) {
      const payload = text((json) => json.replace(/"exp":\d+/, `"exp":${exp}`));
      await expectRejected(forge(HS256, payload));
    }
    for (const again of [`"exp": ${claims['exp']}`, '"exp":1', `"id":${claims['id']}`, '"id" :7', '"sub":"a@b"']) {
      await expectRejected(
        forge(
          HS256,
          text((json) => json.replace(/}$/, `,${again}}`)),
        ),
      );
      await expectRejected(
        forge(
          HS256,
          text((json) => json.replace(/^{/, `{${again},`)),
        ),
      );
    }
    await expectRejected('...');
    await expectRejected(`${good.split('.')[0]}...`);
    for (const value of ['null', '[]', '"text"', '7', '{}', '{']) {
      await expectRejected(forge(HS256, Buffer.from(value).toString('base64url')));
    }
    await expectRejected(`${good}.x`);
    await expectRejected(forge(HS256, { ...claims, pad: 'x'.repeat(6000) }));
  });

  it('JWT-types: are rejected before they are read when they are far too long', async () => {
    const server = await listen(app.listener, { host: '127.0.0.1', port: 0 });
    const url = `http://127.0.0.1:${server.port}`;
    const rejected = async (token: string) => {
      const response = await fetch(`${url}/api/v2/person`, { headers: { authorization: `Bearer ${token}` } });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ error: 'Unauthorized', code: 401 });
    };
    await rejected(forge(HS256, { ...claims, pad: 'x'.repeat(8000) }));
    await rejected(forge(HS256, { ...claims, pad: 'x'.repeat(64_000) }));
    await rejected('x'.repeat(64_000));
    const other = await fetch(`${url}/api/v2/person`, { headers: { 'x-pad': 'x'.repeat(40_000) } });
    expect(other.status).toBe(431);
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    await server.close();
  });

  it('JWT-revoked: end within seconds when a counter of the person, account or system is raised', async () => {
    const { db } = database.persistence;
    const { email, password } = await createAccount(db, 'revoked');
    for (const raise of [
      `update person set token_epoch = token_epoch + 1 where email = 'revoked@fleet.example'`,
      `update account set token_epoch = token_epoch + 1 where name = 'revoked'`,
      `update system_setting set value = (value::int + 1)::text where key = 'token_epoch'`,
    ]) {
      const token = await app.login({ email, password });
      expect((await app.call('GET', '/person', { token })).status).toBe(200);
      await db.query(raise);
      nowMs += 5000;
      await expectRejected(token);
    }
  });

  it('JWT-revoked: end when the person leaves the account, and are forbidden when it is disabled', async () => {
    const { db } = database.persistence;
    const { accountId } = await createAccount(db, 'left');
    const member = await createMember(db, { accountId, email: 'leaver@fleet.example', role: 'Auditor' });
    const token = await app.login(member);
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    await db.query('update account set disabled = true where id = $1', [accountId]);
    nowMs += 5000;
    expect((await app.call('GET', '/computers', { token })).body.error).toBe('AccountDisabled');
    await db.query('update account set disabled = false where id = $1', [accountId]);
    await db.query('delete from membership where person_id = $1', [member.personId]);
    nowMs += 5000;
    await expectRejected(token);
    const homeless = await app.login(member);
    expect((await app.call('GET', '/person', { token: homeless })).status).toBe(200);
    expect((await app.call('GET', '/computers', { token: homeless })).body.error).toBe('NoAccount');
  });
});
