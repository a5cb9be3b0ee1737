import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import {
  activeProfilesOf,
  computersInScope,
  countComputersInScope,
} from '../../../src/persistence/query/profile-scope.sql.ts';
import { createGroup } from '../../../tools/harness/accounts.ts';
import { anAccount } from '../../support/activities/activity-rows.ts';
import { insertComputer } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc from '../../support/common/random.ts';

const TREE = { a: 'global', b: 'global', aa: 'a', aaa: 'aa' } as const;
const GROUPS = ['global', ...Object.keys(TREE)];
const TAGS = ['web', 'db', 'lab', 'old'];

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
});
afterAll(() => database?.drop());

const tags = fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 });
const computer = fc.record({
  group: fc.constantFrom(...GROUPS),
  tags,
  archived: fc.boolean(),
  state: fc.constantFrom('approved' as const, 'approved' as const, 'pending' as const),
});
const profile = fc.record({ group: fc.constantFrom(...GROUPS), tags, all: fc.boolean() });

function isBelow(group: string, top: string): boolean {
  for (let at: string | undefined = group; at !== undefined; at = TREE[at as keyof typeof TREE]) {
    if (at === top) return true;
  }
  return false;
}

async function insertProfile(accountId: number, p: { group: string; tags: string[]; all: boolean }): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `insert into usg_profile (account_id, access_group_id, creator_id, name, title, all_computers, tags, benchmark, mode,
       schedule, start_date, planned_dates, restart_deliver_delay, restart_deliver_delay_window, creation_time,
       modification_time)
     select $1, g.id, 1, gen_random_uuid()::text, 'p', $3, $4, 'disa_stig', 'audit', 'FREQ=WEEKLY', now(), '{}', 0, 0,
       now(), now()
     from access_group g where g.account_id = $1 and g.name = $2 returning id`,
    [accountId, p.group, p.all, p.tags],
  );
  return row!.id;
}

/** Computers that name the profile among theirs. */
async function computersShowing(id: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `select c.id from computer c where exists (${activeProfilesOf('usg', 'c')} and p.id = $1) order by c.id`,
    [id],
  );
  return rows.map((row) => row.id);
}

describe('the scope of profiles', () => {
  it('is counted for many as it is listed for one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(computer, { maxLength: 25 }),
        fc.array(profile, { minLength: 1, maxLength: 8 }),
        async (computers, profiles) => {
          const { accountId } = await anAccount(db, { computers: 0 });
          for (const [name, parent] of Object.entries(TREE)) await createGroup(db, accountId, name, parent);
          const made = [];
          for (const seed of computers) made.push({ ...seed, id: await insertComputer(db, { accountId, ...seed }) });
          const ids: number[] = [];
          for (const p of profiles) ids.push(await insertProfile(accountId, p));
          const counts = await countComputersInScope(db, 'usg', accountId, ids);
          // Many are counted another way than few.
          const repeated = Array.from({ length: 30 }, () => ids).flat();
          expect(await countComputersInScope(db, 'usg', accountId, repeated)).toEqual(counts);
          for (const [n, p] of profiles.entries()) {
            const expected = made.filter(
              (c) =>
                c.state === 'approved' &&
                !c.archived &&
                isBelow(c.group, p.group) &&
                (p.all || c.tags.some((tag) => p.tags.includes(tag))),
            );
            const found = await computersInScope(db, 'usg', [ids[n]!]);
            expect(found.get(ids[n]!)).toEqual(expected.map(({ id }) => id));
            expect(counts.get(ids[n]!)).toBe(expected.length);
            expect(await computersShowing(ids[n]!)).toEqual(expected.map(({ id }) => id));
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});
