import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createGroup } from '../support/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../support/app.ts';
import { insertComputer } from '../support/computers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let app: TestApp;
let admin: string;
let accountId: number;
const ids: Record<string, number> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  ({ accountId } = await createAdmin(database.persistence));
  await createGroup(db, accountId, 'servers');
  await createGroup(db, accountId, 'databases', 'servers');
  const other = await createAccount(db, 'other');
  app = await createTestApp(database.persistence);
  admin = await app.login();
  const add = async (title: string, seed: object = {}) => {
    ids[title] = await insertComputer(db, { accountId, title, ...seed });
  };
  await add('web', { group: 'servers', tags: ['web', 'lab'] });
  await add('Db 100%', { group: 'databases', tags: ['db'] });
  await add('mail_1', {});
  await add('mailx1', {});
  await insertComputer(db, { accountId: other.accountId, title: 'web', tags: ['web'] });
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const ask = (query: string) => app.call('GET', `/computers?query=${encodeURIComponent(query)}`, { token: admin });
const titles = async (query: string) => {
  const { status, body } = await ask(query);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.count).toBe(body.results.length);
  return body.results.map((computer: { title: string }) => computer.title);
};

describe('GET /computers?query=', () => {
  it('finds by keyword, tag, id and access group', async () => {
    expect(await titles('WEB')).toEqual(['web']);
    expect(await titles('tag:web')).toEqual(['web']);
    expect(await titles('tag: db')).toEqual(['Db 100%']);
    expect(await titles(`id:${ids['mail_1']}`)).toEqual(['mail_1']);
    expect(await titles('access-group:servers')).toEqual(['web']);
    expect(await titles('access-group-recursive:servers')).toEqual(['web', 'Db 100%']);
    expect(await titles('title:"db 100%"')).toEqual(['Db 100%']);
  });

  it('binds NOT, then OR, then AND', async () => {
    expect(await titles('mail tag:web OR tag:db')).toEqual([]);
    expect(await titles('tag:web OR tag:db')).toEqual(['web', 'Db 100%']);
    expect(await titles('NOT tag:web OR tag:lab')).toEqual(['web', 'Db 100%', 'mail_1', 'mailx1']);
    expect(await titles('NOT mail AND NOT tag:web')).toEqual(['Db 100%']);
  });

  it('answers the deprecated name of USG profiles with a header that says so', async () => {
    expect((await ask('profile:usg:1:pass')).headers.get('deprecation')).toBeNull();
    expect((await ask('profile:security:1:pass')).headers.get('deprecation')).toMatch(/^@\d{10}$/);
  });
});
