import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetPassword } from '../../../src/services/identity/login/password-change.service.ts';
import { createAccount, createMember } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
const NEW = 'Quite-another-1-here';

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAdmin(database.persistence));
  app = await createTestApp(database.persistence);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const reset = (email: string, password = NEW, { strong = false, keepAccessKeys = false } = {}) =>
  resetPassword(database.persistence.db, { email, password, policy: { minCharacters: 12, strong }, keepAccessKeys });
const logIn = (email: string, password: string) => app.call('POST', '/login', { body: { email, password } });

describe('a password that is reset from the command line', () => {
  it('takes the place of the old one, ends all tokens and is in the log', async () => {
    const token = await app.login();
    await expect(reset(` ${ADMIN.email.toUpperCase()} `)).resolves.toBe(ADMIN.email);
    expect((await logIn(ADMIN.email, ADMIN.password)).status).toBe(401);
    const fresh = (await logIn(ADMIN.email, NEW)).body.token as string;
    const { results } = (await app.call('GET', '/events?search=command line', { token: fresh })).body;
    expect(results).toMatchObject([
      { entity_type: 'Person', person_id: null, person_name: 'npm run reset-password', entity_name: ADMIN.name },
    ]);
    expect(JSON.stringify(results)).not.toContain(NEW);
    const other = await createTestApp(database.persistence);
    expect((await other.call('GET', '/computers', { token })).status).toBe(401);
    await other.close();
  });

  it('ends the access keys, unless they are to be kept', async () => {
    const { email, password } = await createAccount(database.persistence.db, 'keyed');
    const token = await app.login({ email, password });
    const body = { account: 'keyed', password };
    const { access_key, secret_key } = (await app.call('POST', '/credentials', { token, body })).body;
    const byKey = () => app.call('POST', '/login/access-key', { body: { access_key, secret_key } });
    await reset(email, NEW, { keepAccessKeys: true });
    expect((await byKey()).status).toBe(200);
    await reset(email);
    expect((await byKey()).status).toBe(401);
  });

  it('lets in whom the throttle has shut out', async () => {
    const email = 'shut-out@fleet.example';
    await createMember(database.persistence.db, { accountId, email, role: 'Auditor' });
    for (let i = 0; i < 20; i++) await logIn(email, 'wrong');
    expect((await logIn(email, 'wrong')).status).toBe(429);
    await reset(email);
    expect((await logIn(email, NEW)).status).toBe(200);
  });

  it('rejects an unknown person and a weak password, and changes nothing', async () => {
    const { email, password } = await createAccount(database.persistence.db, 'untouched');
    await expect(reset('nobody@fleet.example')).rejects.toThrow('Nobody has the email address nobody@fleet.example');
    await expect(reset(email, 'x')).rejects.toThrow('must have 12 to 128 characters');
    await expect(reset(email, 'all lower case', { strong: true })).rejects.toThrow('an upper case letter');
    expect((await logIn(email, password)).status).toBe(200);
  });
});
