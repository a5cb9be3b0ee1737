import { afterAll, beforeAll, expect, it } from 'vitest';
import { readComputers, WITHOUT_BLOCKS } from '../../../src/persistence/computers/computers.sql.ts';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((one) => !one.includes('\0'));
const computer = fc.record({
  title: text,
  comment: text,
  tags: fc.uniqueArray(fc.constantFrom('web', 'db', 'lab', 'old'), { maxLength: 3 }),
  archived: fc.constantFrom(false, false, true),
  pending: fc.constantFrom(false, false, false, true),
  below: fc.option(fc.nat(2)),
});

it('the JSON of a computer from the database equals its rows one by one', async () => {
  const fleet = fc.array(computer, { minLength: 3, maxLength: 7 });
  // A failure prints its seed and path, and the smallest fleet that fails.
  await fc.assert(
    fc.asyncProperty(fleet, async (given) => {
      const { accountId, computers: ids } = await anAccount(db, { computers: given.length });
      const rows = given.map((one, n) => ({
        ...one,
        id: ids[n]!,
        parent: n < 3 ? null : (ids[one.below ?? -1] ?? null),
      }));
      for (const { id, title, comment, tags, archived, pending, parent } of rows) {
        await db.query(
          `update computer set title = $2, comment = $3, tags = $4, archived = $5, state = $6, parent_id = $7
           where id = $1`,
          [id, title, comment, tags, archived, pending ? 'pending' : 'approved', parent],
        );
      }
      const shown = await readComputers(db, { accountId, groups: null }, ids, WITHOUT_BLOCKS);
      const related = rows.filter(({ archived, pending }) => !archived && !pending);
      const plain = ({ id, title, comment, tags, archived }: (typeof rows)[number]) => ({
        id,
        title,
        comment,
        tags: tags.toSorted(),
        archived,
      });
      const expected = rows
        .filter(({ pending }) => !pending)
        .map((row) => {
          const parent = related.find(({ id }) => id === row.parent);
          const children = related.filter((one) => one.parent === row.id).map(plain);
          return { ...plain(row), children, parent: parent ? plain(parent) : null };
        });
      expect(shown.map((one) => JSON.parse(one))).toMatchObject(expected);
    }),
    { seed: seedOr(20_261_125), numRuns: 60 },
  );
});
