import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lockRights } from '../../../src/persistence/identity/rights.repository.ts';
import { createAccount, createGroup, createMember } from '../../../tools/harness/accounts.ts';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let accountId: number;
let adminId: number;
let admin: string;
let nowMs = Date.now();
const clock = { now: () => new Date(nowMs) };

beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId, personId: adminId } = await createAdmin(database.persistence));
  await createGroup(database.persistence.db, accountId, 'servers');
  app = await createTestApp(database.persistence, { clock });
  admin = await app.login();
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const member = (name: string, role: string) =>
  createMember(database.persistence.db, { accountId, email: `${name}@fleet.example`, role });
const ADMIN_LOGIN = { email: ADMIN.email, password: ADMIN.password };

/** Requests a new script with a body of which the last byte comes after something else has happened. */
async function slowly(token: string, meanwhile: () => unknown): Promise<number | undefined> {
  const body = JSON.stringify({ title: 'Kept up my sleeve', code: '#!/bin/sh\ntrue' });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const sent = request(`${app.url}/api/v2/scripts`, { method: 'POST', headers });
  const responded = once(sent, 'response') as Promise<[IncomingMessage]>;
  const authenticate = vi.spyOn(app.services.authenticator, 'authenticate');
  sent.write(body.slice(0, -1));
  await expect.poll(() => authenticate.mock.settledResults[0]?.type).toBe('fulfilled');
  authenticate.mockRestore();
  await meanwhile();
  sent.end('}');
  const [response] = await responded;
  response.resume();
  return response.statusCode;
}

const setRoles = (id: number, roles: unknown, token = admin) =>
  app.call('PUT', `/administrators/${id}`, { token, body: { roles } });

describe('administrators', () => {
  it('are listed by id with their roles in alphabetical order', async () => {
    const { personId } = await member('two-roles', 'SupportAnalyst');
    expect((await setRoles(personId, ['SupportAnalyst', 'Auditor', 'Auditor'])).body).toEqual({
      id: personId,
      name: 'Member',
      email: 'two-roles@fleet.example',
      roles: ['Auditor', 'SupportAnalyst'],
    });
    const { body } = await app.call('GET', '/administrators', { token: admin });
    expect(body).toMatchObject({ count: 2, next: null, previous: null });
    expect(body.results[0]).toEqual({ id: adminId, name: ADMIN.name, email: ADMIN.email, roles: ['GlobalAdmin'] });
    expect((await app.call('GET', '/administrators?limit=1&offset=1', { token: admin })).body.results).toHaveLength(1);
  });

  it('get other roles at once in the response and on tokens in use', async () => {
    const person = await member('changing', 'Auditor');
    const token = await app.login(person);
    expect((await app.call('GET', '/roles', { token })).status).toBe(200);
    expect((await setRoles(person.personId, ['SupportAnalyst'])).status).toBe(200);
    expect((await app.call('GET', '/roles', { token })).body).toMatchObject({ error: 'Forbidden', code: 403 });
    expect((await app.call('GET', '/computers', { token })).status).toBe(200);
    await setRoles(person.personId, ['GlobalAdmin']);
    expect((await app.call('GET', '/roles', { token })).status).toBe(200);
    await setRoles(person.personId, ['Auditor']);
  });

  it('cannot get unknown roles or none, or be people outside the account', async () => {
    const { personId } = await member('steady', 'Auditor');
    const outsider = await createAccount(database.persistence.db, 'outside');
    expect((await setRoles(personId, ['Emperor'])).body).toMatchObject({ error: 'UnknownRole', code: 400 });
    for (const roles of [[], null, 'Auditor', [1], [null], undefined]) {
      expect((await setRoles(personId, roles)).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    const foreign = await setRoles(outsider.personId, ['Auditor']);
    const never = await setRoles(2_000_000_000, ['Auditor']);
    expect(foreign.body).toMatchObject({ error: 'UnknownPerson', code: 404 });
    expect(foreign.text).toBe(never.text);
    const { body } = await app.call('GET', '/administrators', { token: admin });
    expect(body.results.find((a: { id: number }) => a.id === personId).roles).toEqual(['Auditor']);
  });

  it('JWT-revoked: who loses a role is forbidden what it gave within five seconds, on every process', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const someone = await member('loses', 'GlobalAdmin');
    const token = await app.login(someone);
    for (const on of [app, second]) expect((await on.call('GET', '/preferences', { token })).status).toBe(200);
    await setRoles(someone.personId, ['Auditor']);
    nowMs += 5000;
    for (const on of [app, second]) {
      expect((await on.call('GET', '/preferences', { token })).body).toMatchObject({ error: 'Forbidden', code: 403 });
      expect((await on.call('GET', '/roles', { token })).status).toBe(200);
    }
    await second.close();
  });

  it('JWT-revoked: who is demoted or removed cannot act any more, not even where their rights are still remembered', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const [demoted, removed] = [await member('demoted', 'GlobalAdmin'), await member('removed', 'GlobalAdmin')];
    const tokens = await Promise.all([demoted, removed].map((person) => app.login(person)));
    for (const token of tokens) expect((await second.call('GET', '/roles', { token })).status).toBe(200);
    await setRoles(demoted.personId, ['Auditor']);
    await app.call('DELETE', `/administrators/${removed.personId}`, { token: admin });
    // The other process goes on by what it has read, as far as reading goes.
    for (const token of tokens) expect((await second.call('GET', '/roles', { token })).status).toBe(200);
    const invitation = { name: 'Back', email: 'back@fleet.example' };
    const responses = await Promise.all(
      tokens.flatMap((token) => [
        second.call('POST', '/invitations', { token, body: invitation }),
        second.call('PUT', `/administrators/${demoted.personId}`, { token, body: { roles: ['GlobalAdmin'] } }),
      ]),
    );
    await second.close();
    expect(responses.slice(0, 2).map(({ body }) => body.error)).toEqual(['Forbidden', 'Forbidden']);
    expect(responses.slice(2, 4).map(({ body }) => body.error)).toEqual(['Unauthorized', 'Unauthorized']);
    expect((await app.call('GET', '/invitations', { token: admin })).body.count).toBe(0);
  });

  it('JWT-revoked: a token that ended with its membership stays so when the person is invited again', async () => {
    const { db } = database.persistence;
    const { personId, ...login } = await member('again', 'Auditor');
    const [old, elsewhere] = [await app.login(login), await createAccount(db, 'second-home')];
    await db.query('insert into membership (account_id, person_id) values ($1, $2)', [elsewhere.accountId, personId]);
    const other = (await app.call('POST', '/login', { body: { ...login, account: 'second-home' } })).body.token;
    await app.call('DELETE', `/administrators/${personId}`, { token: admin });
    const body = { name: 'Again', email: login.email, roles: ['Auditor'] };
    const { secure_id } = (await app.call('POST', '/invitations', { token: admin, body })).body;
    const joined = await app.call('POST', '/login', { body: { ...login, invitation_id: secure_id } });
    expect(joined.status).toBe(200);
    expect((await app.call('GET', '/roles', { token: old })).status).toBe(401);
    expect((await app.call('GET', '/roles', { token: joined.body.token })).status).toBe(200);
    expect((await app.call('GET', '/person', { token: other })).status).toBe(200);
  });

  it('see at once what a new role lets them see, also where they were rejected a moment ago', async () => {
    const { db } = database.persistence;
    const second = await createTestApp(database.persistence, { clock });
    await app.call('POST', '/roles', { token: admin, body: { name: 'Newcomer' } });
    await insertComputer(db, { accountId, title: 'web-1' });
    const person = await member('newcomer', 'Newcomer');
    const token = await app.login(person);
    expect((await second.call('GET', '/computers', { token })).status).toBe(403);
    await setRoles(person.personId, ['GlobalAdmin']);
    expect((await second.call('GET', '/computers', { token })).body.count).toBe(1);
    await setRoles(person.personId, ['Auditor']);
    await second.close();
  });

  it('JWT-revoked: cannot act by a token that ends before their request has come', async () => {
    const { token } = (await app.call('POST', '/login', { body: { ...ADMIN_LOGIN, expiry_minutes: 1 } })).body;
    const status = await slowly(token, () => {
      nowMs += 61_000;
    });
    expect(status).toBe(401);
  });

  it('JWT-revoked: cannot act by a request that they started before', async () => {
    const slow = await member('slow', 'GlobalAdmin');
    const token = await app.login(slow);
    const status = await slowly(token, () => app.call('DELETE', `/administrators/${slow.personId}`, { token: admin }));
    expect(status).toBe(401);
    expect((await app.call('GET', '/scripts', { token: admin })).body.count).toBe(0);
  });

  it('cannot change rights when theirs went while they waited for their turn', async () => {
    const late = await member('late', 'GlobalAdmin');
    const token = await app.login(late);
    const { db } = database.persistence;
    const waiting = await db.transaction(async (tx) => {
      await lockRights(tx, accountId);
      const response = app.call('POST', '/access-groups', { token, body: { title: 'Too late' } });
      await untilBlocked(db);
      await tx.query('delete from membership where account_id = $1 and person_id = $2', [accountId, late.personId]);
      return { response };
    });
    expect((await waiting.response).body).toMatchObject({ error: 'Unauthorized', code: 401 });
    expect((await app.call('GET', '/access-groups/too-late', { token: admin })).status).toBe(404);
  });

  it('JWT-revoked: are removed: their tokens end, their person and other accounts stay', async () => {
    const other = await createAccount(database.persistence.db, 'elsewhere');
    const { db } = database.persistence;
    await db.query('insert into membership (account_id, person_id) values ($1, $2)', [accountId, other.personId]);
    const response = await app.call('POST', '/login', { body: { ...pick(other), account: 'standalone' } });
    const token = response.body.token;
    await db.query('update person set preferred_account_id = $1 where id = $2', [accountId, other.personId]);
    const gone = await app.call('DELETE', `/administrators/${other.personId}`, { token: admin });
    expect([gone.status, gone.text]).toEqual([204, '']);
    nowMs += 2000;
    expect((await app.call('GET', '/access-groups', { token })).body.error).toBe('Unauthorized');
    const login = (await app.call('POST', '/login', { body: pick(other) })).body;
    expect(login.current_account).toBe('elsewhere');
    const again = await app.call('DELETE', `/administrators/${other.personId}`, { token: admin });
    expect(again.body.error).toBe('UnknownPerson');
  });

  it('LAST-admin: never lose the last GlobalAdmin', async () => {
    const before = (await app.call('GET', '/administrators', { token: admin })).text;
    expect((await setRoles(adminId, ['Auditor'])).body).toMatchObject({ error: 'LastGlobalAdmin', code: 409 });
    const removed = await app.call('DELETE', `/administrators/${adminId}`, { token: admin });
    expect(removed.body).toMatchObject({ error: 'LastGlobalAdmin', code: 409 });
    expect((await app.call('GET', '/administrators', { token: admin })).text).toBe(before);
  });

  it('LAST-admin: not even when all of them go at the same moment', async () => {
    const second = await createTestApp(database.persistence, { clock });
    const rivals = await Promise.all(['a', 'b', 'c'].map((name) => member(`rival-${name}`, 'GlobalAdmin')));
    const people = [
      { id: adminId, token: admin },
      ...(await Promise.all(rivals.map(async (rival) => ({ id: rival.personId, token: await app.login(rival) })))),
    ];
    const responses = await Promise.all(
      people.map(({ id, token }, index) => {
        const on = index % 2 === 0 ? app : second;
        return index < 2
          ? on.call('PUT', `/administrators/${id}`, { token, body: { roles: ['Auditor'] } })
          : on.call('DELETE', `/administrators/${id}`, { token });
      }),
    );
    await second.close();
    expect(responses.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    const left = await database.persistence.db.query<{ person_id: number }>(
      `select person_id from membership_role mr join role r on r.id = mr.role_id
       where r.account_id = $1 and r.name = 'GlobalAdmin'`,
      [accountId],
    );
    expect(left).toHaveLength(1);
    await database.persistence.db.query(
      `insert into membership (account_id, person_id) values ($1, $2) on conflict do nothing`,
      [accountId, adminId],
    );
    await database.persistence.db.query(
      `insert into membership_role select $1, $2, id from role where account_id = $1 and name = 'GlobalAdmin'
       on conflict do nothing`,
      [accountId, adminId],
    );
    nowMs += 2000;
  });
});

function pick({ email, password }: { email: string; password: string }) {
  return { email, password };
}
