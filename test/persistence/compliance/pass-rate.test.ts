import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passRate } from '../../../src/domain/compliance/profile.ts';
import { passRateOf } from '../../../src/persistence/compliance/usg-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

describe('a pass rate', () => {
  it.each([
    [0, 0, null],
    [0, 1, 0],
    [1, 0, 100],
    [199, 1, 99],
    [1, 199, 1],
    [1_000_000, 1, 99],
    [1, 1_000_000, 1],
    [1, 2, 33],
    [2, 1, 67],
    [199, 0, 100],
    [1, 7, 13],
  ])('of %d that pass and %d that fail is %s', (passing, failing, rate) => {
    expect(passRate(passing, failing)).toBe(rate);
  });

  it('is the same in SQL, for all of up to 250 and some large ones', async () => {
    const rows = await database.persistence.db.query<{ passing: number; failing: number; rate: number | null }>(
      `select p as passing, f as failing, (${passRateOf('p', 'f')})::int as rate
       from (select p, f from generate_series(0, 250) p, generate_series(0, 250) f
         union all select * from (values (1000000, 1), (1, 1000000), (99999, 501), (100000, 100000)) large) as x(p, f)`,
    );
    expect(rows).toHaveLength(251 * 251 + 4);
    for (const { passing, failing, rate } of rows) {
      if (passRate(passing, failing) !== rate) expect([passing, failing, rate]).toEqual([passing, failing, 'the same']);
    }
  });
});
