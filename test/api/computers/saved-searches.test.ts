import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockSearchTitles } from '../../../src/persistence/computers/saved-searches.repository.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase, untilBlocked } from '../../support/database/database.ts';

let database: TestDatabase;
let app: TestApp;
let token: string;
let foreign: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId } = await createAdmin(database.persistence);
  const other = await createAccount(db, 'other');
  for (const [title, tags] of [
    ['web-1', ['web']],
    ['web-2', ['web', 'lab']],
    ['db-1', ['db']],
  ] as const) {
    await insertComputer(db, { accountId, title, tags: [...tags] });
  }
  app = await createTestApp(database.persistence);
  token = await app.login();
  foreign = await app.login(other);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const save = (body: object) => app.call('POST', '/saved-searches', { token, body });
const edit = (name: string, body: object) => app.call('PATCH', `/saved-searches/${name}`, { token, body });
const list = async () => (await app.call('GET', '/saved-searches', { token })).body;
const search = (query: string, as = token) =>
  app.call('GET', `/computers?query=${encodeURIComponent(query)}`, { token: as });
const titles = async (query: string) => (await search(query)).body.results.map((c: { title: string }) => c.title);

describe('saved searches', () => {
  it('are kept, found by name in queries, changed and removed', async () => {
    const saved = await save({ title: 'Labor: Zürich #1', search: ' tag:web OR tag:db ' });
    expect([saved.status, saved.body]).toEqual([
      201,
      { name: 'labor-zurich-1', title: 'Labor: Zürich #1', search: 'tag:web OR tag:db', changeable: true },
    ]);
    expect(await titles('search:labor-zurich-1 NOT tag:lab')).toEqual(['web-1', 'db-1']);
    expect(await titles('NOT search:labor-zurich-1')).toEqual([]);
    const changed = await edit('labor-zurich-1', { title: null, search: 'tag:db' });
    expect(changed.body).toEqual({
      name: 'labor-zurich-1',
      title: 'Labor: Zürich #1',
      search: 'tag:db',
      changeable: true,
    });
    expect(await titles('search:labor-zurich-1 OR tag:lab')).toEqual(['web-2', 'db-1']);
    expect((await edit('labor-zurich-1', { title: 'Databases' })).body.title).toBe('Databases');
    expect((await list()).results).toEqual([
      { name: 'labor-zurich-1', title: 'Databases', search: 'tag:db', changeable: true },
    ]);
    expect((await app.call('DELETE', '/saved-searches/labor-zurich-1', { token })).status).toBe(204);
    expect((await search('search:labor-zurich-1')).body.error).toBe('InvalidQueryError');
    const events = await app.call('GET', '/events?search=search', { token });
    expect(events.body.results.map((event: { message: string }) => event.message)).toEqual([
      'Removed the saved search Databases',
      'Changed the saved search Databases',
      'Changed the saved search Labor: Zürich #1',
      'Saved the search Labor: Zürich #1',
    ]);
  });

  it('take the name that is given, once', async () => {
    expect((await save({ name: 'mine', search: 'web' })).body).toMatchObject({
      name: 'mine',
      title: 'mine',
      search: 'web',
    });
    expect((await save({ name: 'mine', search: 'db' })).body).toMatchObject({
      error: 'DuplicateSavedSearch',
      code: 409,
    });
    expect((await save({ title: 'Mine!', search: 'db' })).status).toBe(409);
    expect(await titles('search:mine')).toEqual(['web-1', 'web-2']);
  });

  it('have titles of their own', async () => {
    await save({ name: 'north', title: 'North', search: 'web' });
    const taken = { error: 'DuplicateSavedSearch', code: 409 };
    expect((await save({ name: 'south', title: 'North', search: 'web' })).body).toMatchObject(taken);
    const rivals = await Promise.all(['s1', 's2', 's3'].map((name) => save({ name, title: 'South', search: 'web' })));
    expect(rivals.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await edit('north', { title: 'South' })).body).toMatchObject(taken);
    expect((await edit('north', { title: 'North', search: 'db' })).status).toBe(200);
    expect((await edit('nowhere', { title: 'South' })).body).toMatchObject({ error: 'UnknownSavedSearch', code: 404 });
  });

  it('have titles of their own, also where one is given back while another takes it', async () => {
    const { db } = database.persistence;
    await save({ name: 'given', title: 'Given', search: 'web' });
    const [row] = await db.query<{ id: number }>(`select account_id as id from saved_search where name = 'given'`);
    const account = row!.id;
    let back: ReturnType<typeof edit> | undefined;
    await db.transaction(async (tx) => {
      await lockSearchTitles(tx, account);
      await tx.query(`update saved_search set title = 'Lent' where name = 'given'`);
      back = edit('given', { title: 'Given' });
      await untilBlocked(db);
      await tx.query(
        `insert into saved_search (account_id, name, title, search) values ($1, 'taker', 'Given', 'web')`,
        [account],
      );
    });
    expect((await back!).body).toMatchObject({ error: 'DuplicateSavedSearch', code: 409 });
  });

  it('are rejected with bad names, titles and texts, and nothing is stored', async () => {
    const before = (await list()).count;
    for (const body of [
      { search: 'web' },
      { name: 'Mine', search: 'web' },
      { name: '', search: 'web' },
      { name: 'a b', search: 'web' },
      { name: 'x'.repeat(256), search: 'web' },
      { title: '!!!', search: 'web' },
      { title: 'two\nlines', search: 'web' },
      { name: 'empty', search: '  ' },
      { name: 'none' },
    ]) {
      expect((await save(body)).body, JSON.stringify(body)).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    for (const search of ['"web', 'tag:', 'web OR', 'nonsense:1', 'x'.repeat(8193), 'a\u0000']) {
      expect((await save({ name: 'bad', search })).body.code, search.slice(0, 20)).toBe(400);
    }
    expect((await edit('mine', { search: 'id:x' })).body).toMatchObject({ error: 'InvalidQueryError', code: 400 });
    expect((await list()).count).toBe(before);
    expect(await titles('search:mine')).toEqual(['web-1', 'web-2']);
  });

  it('belong to their account', async () => {
    expect((await app.call('GET', '/saved-searches', { token: foreign })).body.count).toBe(0);
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { title: 'Taken' } : undefined;
      const response = await app.call(method, '/saved-searches/mine', { token: foreign, body });
      expect(response.body).toMatchObject({ error: 'UnknownSavedSearch', code: 404 });
    }
    expect((await search('search:mine', foreign)).body.error).toBe('InvalidQueryError');
  });

  it('keep their deprecated forms', async () => {
    await save({ name: 'old', search: 'profile:security:1:fail' });
    expect((await search('NOT search:old')).headers.get('deprecation')).toMatch(/^@\d+$/);
    expect((await search('search:mine')).headers.get('deprecation')).toBeNull();
  });

  it('SEARCH-cycle: cannot name a saved search, neither themselves nor a ring', async () => {
    for (const name of ['a', 'b', 'c']) expect((await save({ name, search: 'web' })).status).toBe(201);
    for (const search of ['search:a', 'web OR NOT search:b', 'search: c', 'search:"a"', 'search:unknown']) {
      for (const response of [await edit('a', { search }), await save({ name: 'ring', search })]) {
        expect(response.body).toMatchObject({ error: 'InvalidQueryError', code: 400 });
        expect(response.body.message).toMatch(/character \d+: expected no search: in a saved search/);
      }
    }
    expect(await titles('search:a search:b search:c')).toEqual(['web-1', 'web-2']);
    // Written as a keyword it is one.
    expect((await edit('c', { search: '"search:a"' })).status).toBe(200);
    expect(await titles('search:c')).toEqual([]);
  });

  it('count with the terms of the query that names them', async () => {
    expect((await save({ name: 'long', search: Array(200).fill('web').join(' OR ') })).status).toBe(201);
    expect(await titles('search:long search:long search:long search:long')).toEqual(['web-1', 'web-2']);
    expect((await search(Array(5).fill('search:long').join(' '))).body).toMatchObject({ error: 'InvalidQueryError' });
  });
});
