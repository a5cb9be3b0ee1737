import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/process/config.ts';
import { createMember, PASSWORD } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { type Folder, SCRIPTED_HELPER, temporaryFolder } from '../../support/common/process.ts';

let database: TestDatabase;
let folder: Folder;
let app: TestApp;
let plain: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await temporaryFolder();
  const { db } = database.persistence;
  const { accountId } = await createAdmin(database.persistence);
  for (const identity of ['ada', 'hang', 'away']) {
    const { personId } = await createMember(db, { accountId, email: `${identity}@fleet.example`, role: 'Auditor' });
    await db.query('update person set identity = $1 where id = $2', [identity, personId]);
  }
  const helper = await folder.write('helper.sh', SCRIPTED_HELPER, 0o755);
  const { identity } = loadConfig({ FLOTILLA_PAM_SERVICE: 'fleet', FLOTILLA_PAM_HELPER: helper }, 'stack');
  app = await createTestApp(database.persistence, { settings: { identity } });
  plain = await createTestApp(database.persistence);
});

afterAll(async () => {
  await app?.close();
  await plain?.close();
  await folder?.remove();
  await database?.drop();
});

const login = (body: unknown, to = app) => to.call('POST', '/login', { body });

describe('POST /login with identity', () => {
  it('takes the stored password while PAM is off', async () => {
    expect((await login({ identity: 'ada', password: PASSWORD }, plain)).status).toBe(200);
    expect((await login({ identity: 'ada', password: 'right horse' }, plain)).status).toBe(401);
    expect((await plain.call('GET', '/login/methods')).body.pam).toEqual({ available: false, enabled: false });
  });

  it('takes what PAM takes once it is on, for people who are known here', async () => {
    const response = await login({ identity: 'ada', password: 'right horse' });
    expect(response.body).toMatchObject({ email: 'ada@fleet.example', current_account: 'standalone' });
    expect((await login({ identity: 'ada', password: PASSWORD })).body.error).toBe('AuthenticationFailed');
    expect((await app.call('GET', '/login/methods')).body).toEqual({
      password: { available: true, enabled: true },
      pam: { available: true, enabled: true },
      access_key: { available: true, enabled: true },
      oidc: { available: false, configurations: [] },
    });
    const { db } = database.persistence;
    await db.query(`update person set identity = 'not ada' where identity = 'ada'`);
    const outsider = await login({ identity: 'ada', password: 'right horse' });
    expect(outsider.text).toBe((await login({ identity: 'nobody', password: 'x' })).text);
    await db.query(`update person set identity = 'ada' where identity = 'not ada'`);
  });

  it('gives PAM no password of an unknown person: the time it takes would reveal whether it is right', async () => {
    const seen = await folder.write('seen', '');
    const helper = await folder.write('writing.sh', `#!/bin/sh\ntr '\\0' ' ' >> ${seen}\nexit 1\n`, 0o755);
    const { identity } = loadConfig({ FLOTILLA_PAM_SERVICE: 'fleet', FLOTILLA_PAM_HELPER: helper }, 'stack');
    const watching = await createTestApp(database.persistence, { settings: { identity } });
    for (const name of ['ada', 'root']) await login({ identity: name, password: `secret of ${name}` }, watching);
    await watching.close();
    const given = await readFile(seen, 'utf8');
    expect(given).toContain('fleet ada secret of ada');
    expect(given).toMatch(/fleet root \S/);
    expect(given).not.toContain('secret of root');
  });

  it('leaves logins by address to the stored password', async () => {
    expect((await login({ email: ADMIN.email, password: ADMIN.password })).status).toBe(200);
  });

  it('returns 503 when PAM cannot decide, and counts no failure', async () => {
    const { db } = database.persistence;
    const count = async () => (await db.query('select count(*)::int as n from login_failure'))[0]!['n'];
    const before = await count();
    const response = await login({ identity: 'away', password: 'x' });
    expect(response.body).toMatchObject({ error: 'ServiceUnavailable', code: 503 });
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await count()).toBe(before);
  });

  it('returns 503 within its time limit when PAM hangs, while others log in', async () => {
    const hanging = Promise.all(Array.from({ length: 10 }, () => login({ identity: 'hang', password: 'x' })));
    const other = login({ email: ADMIN.email, password: ADMIN.password });
    expect(await Promise.race([other, hanging])).toMatchObject({ status: 200 });
    expect((await hanging).map(({ status }) => status)).toEqual(Array(10).fill(503));
  });

  it('makes access keys by the password that PAM takes, for people who logged in by it or have no other', async () => {
    const make = (token: string, password: string) =>
      app.call('POST', '/credentials', { token, body: { account: 'standalone', password } });
    const byPam = (await login({ identity: 'ada', password: 'right horse' })).body.token;
    expect((await make(byPam, PASSWORD)).body.error).toBe('AuthenticationFailed');
    expect((await make(byPam, 'right horse')).status).toBe(200);
    const byAddress = (await login({ email: 'ada@fleet.example', password: PASSWORD })).body.token;
    expect((await make(byAddress, 'right horse')).body.error).toBe('AuthenticationFailed');
    expect((await make(byAddress, PASSWORD)).status).toBe(200);
    await database.persistence.db.query(`update person set password_hash = null where identity = 'ada'`);
    expect((await make(byAddress, 'right horse')).status).toBe(200);
  });

  it('LOGIN-brute: throttles identities as it does addresses', async () => {
    for (let guess = 0; guess < 20; guess++) await login({ identity: 'bob', password: `guess ${guess}` });
    expect((await login({ identity: 'bob', password: 'x' })).body).toMatchObject({ error: 'TooManyRequests' });
  });
});
