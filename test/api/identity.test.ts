import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, createAdmin, createTestApp, type TestApp } from '../support/app.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await createTestApp(database.persistence);
});

afterAll(async () => {
  await app?.close();
  await database?.drop();
});

describe('the first administrator', () => {
  it('is made by POST /standalone-account, logs in and sees itself', async () => {
    expect((await app.call('GET', '/standalone-account')).body).toEqual({ exists: false });
    const made = await app.call('POST', '/standalone-account', { body: ADMIN });
    expect(made.body).toMatchObject({ account: 'standalone', company: 'Organization', computers: 0 });
    expect(made.status).toBe(201);
    const token = await app.login();
    const person = await app.call('GET', '/person', { token });
    expect(person.body).toMatchObject({ name: ADMIN.name, email: ADMIN.email, identity: ADMIN.email, timezone: 'UTC' });
    expect((await app.call('GET', '/computers', { token })).body).toEqual({
      count: 0,
      results: [],
      next: null,
      previous: null,
    });
    await expect(createAdmin(database.persistence)).rejects.toMatchObject({ code: 'StandaloneAccountExists' });
  });
});
