import { ApiError, type Credentials, createClient, type Session } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, PASSWORD } from '../../../tools/harness/accounts.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestApp, type TestApp } from '../../support/http/app.ts';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let app: TestApp;
let account: Awaited<ReturnType<typeof createAccount>>;
let nowMs = Date.now();

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence, { clock: { now: () => new Date(nowMs) } });
  account = await createAccount(database.persistence.db, 'client');
  for (const title of ['one', 'two', 'three', 'four', 'five']) {
    await insertComputer(database.persistence.db, { accountId: account.accountId, title });
  }
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

function clientWith(credentials: Credentials) {
  const sessions: Session[] = [];
  const client = createClient({ url: app.url, credentials, onSession: (session) => sessions.push(session) });
  return { client, sessions };
}

const byPassword = (password = PASSWORD) => clientWith({ email: account.email, password });

describe('the client library', () => {
  it('logs in once for calls that start together', async () => {
    const { client, sessions } = byPassword();
    const [person, computers] = await Promise.all([client.GET('/person'), client.GET('/computers')]);
    expect(person.data.email).toBe(account.email);
    expect(computers.data.count).toBe(5);
    expect(sessions.map(({ current_account }) => current_account)).toEqual(['client']);
  });

  it('reports a wrong password as the API does', async () => {
    const { client, sessions } = byPassword('not the password');
    const error = await client.GET('/person').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 401, code: 'AuthenticationFailed' });
    expect(sessions).toEqual([]);
  });

  it('logs in again when the token has expired, and repeats the call', async () => {
    const { client, sessions } = byPassword();
    await client.GET('/person');
    nowMs += 2 * DAY_MS;
    expect((await client.GET('/person')).data.email).toBe(account.email);
    expect(sessions).toHaveLength(2);
  });

  it('does not replace a token that it was given', async () => {
    const { client } = clientWith({ token: await app.login({ email: account.email, password: PASSWORD }) });
    await client.GET('/person');
    nowMs += 2 * DAY_MS;
    await expect(client.GET('/person')).rejects.toMatchObject({ status: 401, code: 'Unauthorized' });
    await expect(client.login()).rejects.toThrow('nothing to log in with');
  });

  it('logs in by an access key', async () => {
    const { client } = byPassword();
    const made = await client.POST('/credentials', { body: { account: 'client', password: PASSWORD } });
    const { access_key: accessKey, secret_key: secretKey } = made.data;
    const { client: other, sessions } = clientWith({ accessKey: accessKey!, secretKey: secretKey! });
    expect((await other.GET('/computers')).data.count).toBe(5);
    expect(sessions).toHaveLength(1);
  });

  it('reads a list page by page, although its links name the public address', async () => {
    const { client } = byPassword();
    const init = { params: { query: { limit: 2, query: 'NOT title:none' } } };
    const pages = [];
    for await (const page of client.pages('/computers', init)) pages.push(page);
    expect(pages.map(({ results }) => results.length)).toEqual([2, 2, 1]);
    expect(pages[0]!.next).toContain('https://fleet.example/');
    const titles = [];
    for await (const computer of client.items('/computers', init)) titles.push(computer.title);
    expect(titles).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('throws the details of an error response', async () => {
    const { client } = byPassword();
    const body = { action: 'install' as const, computer_ids: [2 ** 31 - 1], snaps: [{ name: 'hello' }] };
    await expect(client.POST('/snaps', { body })).rejects.toMatchObject({
      status: 404,
      code: 'UnknownComputer',
      details: [{ id: 2 ** 31 - 1, message: 'there is no such computer' }],
    });
  });

  it('calls any path without types', async () => {
    const { client } = byPassword();
    const { data, response } = await client.request('GET', '/computers', { query: { limit: '1' } });
    expect(response.status).toBe(200);
    expect(data).toMatchObject({ count: 5, results: [{ title: 'one' }] });
  });
});
