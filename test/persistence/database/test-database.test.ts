import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

describe('createTestDatabase', () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  });

  afterAll(async () => {
    await first.drop();
    await second.drop();
  });

  it('gives each caller a migrated database of its own', async () => {
    const names = await Promise.all(
      [first, second].map(async ({ persistence }) => {
        const rows = await persistence.db.query<{ name: string; migrated: number }>(
          'select current_database() as name, (select count(*) from schema_migration) as migrated',
        );
        return rows[0];
      }),
    );
    expect(names[0]?.name).not.toBe(names[1]?.name);
    expect(names.map((row) => (row?.migrated ?? 0) > 0)).toEqual([true, true]);
  });

  it('stores text as UTF-8 whatever the locale of the machine', async () => {
    const rows = await first.persistence.db.query(
      'select pg_encoding_to_char(encoding) as encoding, datlocprovider as provider from pg_database where datname = current_database()',
    );
    expect(rows).toEqual([{ encoding: 'UTF8', provider: 'b' }]);
  });
});
