import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { MIGRATIONS } from '../../../src/persistence/orm/migrations/index.ts';
import { migrate } from '../../../src/persistence/orm/orm.ts';
import { anAccount } from '../../support/agents/gateway-world.ts';
import { insertComputer, insertPackage, reportPackages } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  db = database.persistence.db;
  const place = MIGRATIONS.findIndex(({ name }) => name.endsWith('AccountPackages'));
  await database.persistence.orm.migrator.up({ to: MIGRATIONS[place - 1]!.name });
});
afterAll(() => database?.drop());

it('an account knows what its computers had reported, and no account what never existed', async () => {
  const [first, second, silent] = [await anAccount(db), await anAccount(db), await anAccount(db)];
  const ids: number[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push(await insertPackage(db, name, '1'));
  const [a, b, c, d, e] = ids as [number, number, number, number, number];
  const [one, two] = [
    await insertComputer(db, { accountId: first.id }),
    await insertComputer(db, { accountId: first.id, title: 'web-2' }),
  ];
  await reportPackages(db, one, { installed: [a], available: [a, b], security: [2_000_000_000] });
  await reportPackages(db, two, { installed: [b], upgrades: [d], locked: [d] });
  const third = await insertComputer(db, { accountId: second.id });
  await reportPackages(db, third, { installed: [c, e, 2_000_000_000] });
  await insertComputer(db, { accountId: silent.id });

  await migrate(database.persistence);

  const reported = await db.query('select account_id, known::text from account_packages order by account_id');
  expect(reported).toEqual([
    { account_id: first.id, known: setOf(a, b, d) },
    { account_id: second.id, known: setOf(c, e) },
  ]);
  const sets = await db.query(
    'select installed::text, available::text, security::text from computer_packages order by computer_id',
  );
  expect(sets).toEqual([
    { installed: setOf(a), available: setOf(a, b), security: '{}' },
    { installed: setOf(b), available: '{}', security: '{}' },
    { installed: setOf(c, e), available: '{}', security: '{}' },
  ]);
});

/** As PostgreSQL writes it. */
function setOf(...ids: number[]): string {
  const ranges: Array<[number, number]> = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last?.[1] === id) last[1] = id + 1;
    else ranges.push([id, id + 1]);
  }
  return `{${ranges.map(([from, to]) => `[${from},${to})`).join(',')}}`;
}
