import { afterAll, beforeAll, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../src/persistence/orm/migrations/index.ts';
import { migrate, openPersistence } from '../../../src/persistence/orm/orm.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
});
afterAll(() => database?.drop());

it('several processes that bring one schema up to date wait for one of them, indexes built beside writers included', async () => {
  const others = await Promise.all(
    ['second', 'third'].map((applicationName) => openPersistence({ url: database.url, poolSize: 2, applicationName })),
  );
  try {
    await Promise.all([database.persistence, ...others].map(migrate));
  } finally {
    await Promise.all(others.map((other) => other.close()));
  }
  const { db } = database.persistence;
  const applied = await db.query<{ name: string }>('select name from schema_migration order by id');
  expect(applied.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
  expect(await db.query('select from pg_index where not indisvalid')).toEqual([]);
});
