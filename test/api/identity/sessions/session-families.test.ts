import jwt from 'jsonwebtoken';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '../../../../tools/harness/accounts.ts';
import { createTwoProcesses, type TestApp, type TwoProcesses } from '../../../support/http/app.ts';

let processes: TwoProcesses;
let app: TestApp;
let other: TestApp;
let round = 0;
let home: string;
let away: string;
let login: { email: string; password: string };

beforeAll(async () => {
  processes = await createTwoProcesses();
  ({ app, other } = processes);
});

beforeEach(async () => {
  const { db } = processes.database.persistence;
  [home, away] = [`home${++round}`, `away${round}`];
  const account = await createAccount(db, home);
  const second = await createAccount(db, away);
  await db.query(`insert into membership values ($1, $2, now() + interval '1 day')`, [
    second.accountId,
    account.personId,
  ]);
  login = account;
});

afterAll(() => processes?.close());

const switchTo = async (account_name: string, token: string, at = app): Promise<string> =>
  (await at.call('POST', '/switch-account', { token, body: { account_name } })).body.token;
const statuses = (tokens: string[], at = app) =>
  Promise.all(tokens.map(async (token) => (await at.call('GET', '/person', { token })).status));
const expiryOf = (token: string) => (jwt.decode(token) as { exp: number }).exp;

describe('tokens of one login', () => {
  it('expire together, however often the account is switched', async () => {
    const { token } = (await app.call('POST', '/login', { body: { ...bodyOf(), expiry_minutes: 10 } })).body;
    processes.pass(4 * 60_000);
    const second = await switchTo(away, token);
    const third = await switchTo(home, second);
    expect([expiryOf(second), expiryOf(third)]).toEqual([expiryOf(token), expiryOf(token)]);
    processes.pass(6 * 60_000);
    expect(await statuses([token, second, third])).toEqual([401, 401, 401]);
  });

  it.each([0, 1, 2])('end together when token %i of them logs out, within five seconds everywhere', async (which) => {
    const first = await app.login(login);
    const second = await switchTo(away, first);
    const family = [first, second, await switchTo(home, second, other)];
    const outsider = await app.login(login);
    for (const at of [app, other]) expect(await statuses([...family, outsider], at)).toEqual([200, 200, 200, 200]);
    expect((await app.call('POST', '/logout', { token: family[which]! })).status).toBe(200);
    expect(await statuses([...family, outsider])).toEqual([401, 401, 401, 200]);
    processes.passToOthers();
    expect(await statuses([...family, outsider], other)).toEqual([401, 401, 401, 200]);
  });

  it('give no further token once one of them has logged out', async () => {
    const first = await app.login(login);
    const second = await switchTo(away, first);
    await app.call('POST', '/logout', { token: second });
    const rejected = await other.call('POST', '/switch-account', { token: first, body: { account_name: away } });
    expect(rejected.body).toMatchObject({ error: 'Unauthorized', code: 401 });
  });

  it('change nothing when a logout came a moment before, though reads may still take them', async () => {
    const first = await app.login(login);
    const second = await switchTo(away, first);
    expect(await statuses([second], other)).toEqual([200]);
    await app.call('POST', '/logout', { token: first });
    const late = await other.call('POST', '/person', { token: second, body: { name: 'Late' } });
    expect(late.status).toBe(401);
  });
});

function bodyOf() {
  return { email: login.email, password: login.password };
}
