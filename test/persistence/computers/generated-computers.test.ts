import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/persistence/database/sql.ts';
import { generateComputers } from '../../../tools/bench/data/computers.ts';
import { createAccount } from '../../../tools/harness/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const COMPUTERS = 260;

async function generated(seed: number): Promise<{ database: TestDatabase; db: Sql; accountId: number }> {
  const database = await createTestDatabase();
  const { db } = database.persistence;
  const { accountId } = await createAccount(db, 'fleet');
  await generateComputers(db, { accountId, computers: COMPUTERS, seed, now: NOW, prototypes: 50 });
  return { database, db, accountId };
}

/** Tables that have a row per computer or more. */
function partTables(db: Sql): Promise<Array<{ name: string }>> {
  return db.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relkind = 'r' and a.attname = 'computer_id' and c.relnamespace = 'public'::regnamespace order by 1`,
  );
}

async function digests(db: Sql): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const { name } of [
    { name: 'computer' },
    { name: 'access_group' },
    { name: 'package' },
    ...(await partTables(db)),
  ]) {
    const rows = await db.query(
      `select count(*) as rows, md5(string_agg(t::text, chr(10) order by t::text)) as digest from ${name} t`,
    );
    found[name] = rows[0];
  }
  return found;
}

describe('generateComputers', () => {
  let first: Awaited<ReturnType<typeof generated>>;

  beforeAll(async () => {
    first = await generated(7);
  });

  afterAll(() => first.database.drop());

  it('gives equal rows for an equal seed and others for another', async () => {
    const [again, other] = [await generated(7), await generated(8)];
    try {
      const expected = await digests(first.db);
      expect(await digests(again.db)).toEqual(expected);
      expect((await digests(other.db))['computer']).not.toEqual(expected['computer']);
    } finally {
      await again.database.drop();
      await other.database.drop();
    }
  });

  it('makes exactly as many computers as requested, and leaves nothing of the prototypes', async () => {
    const [row] = await first.db.query(
      `select count(*) as rows, max(id) - min(id) + 1 as span, count(distinct title) as titles,
         count(distinct machine_id) as machines from computer`,
    );
    expect(row).toEqual({ rows: COMPUTERS, span: COMPUTERS, titles: COMPUTERS, machines: COMPUTERS });
    for (const { name } of await partTables(first.db)) {
      const orphans = await first.db.query(
        `select computer_id from ${name} t where not exists (select from computer c where c.id = t.computer_id) limit 1`,
      );
      expect([name, orphans]).toEqual([name, []]);
    }
  });

  it('keeps families together: instances stand below their own Windows host, one of them the default', async () => {
    const wrong = await first.db.query(
      `select c.id from computer c left join computer h on h.id = c.parent_id
       where c.is_wsl and (h.hostagent_uid is distinct from c.hostagent_uid or h.is_wsl or h.archived <> c.archived)`,
    );
    const hosts = await first.db.query(
      `select h.id, count(*) filter (where c.is_default_child) as defaults
       from computer h join computer c on c.parent_id = h.id group by h.id having count(*) filter (where c.is_default_child) <> 1`,
    );
    expect([wrong, hosts]).toEqual([[], []]);
  });

  it('writes addresses that agree everywhere and belong to one computer each', async () => {
    const twice = await first.db.query(
      `select ip_address from computer_network where ip_address <> '0.0.0.0' group by 1 having count(*) > 1
       union all select mac_address from computer_network group by 1 having count(*) > 1`,
    );
    const outsiders = await first.db.query(
      `select n.computer_id from computer_network n join computer_hardware h using (computer_id)
       where position(n.mac_address in h.data) = 0`,
    );
    expect([twice, outsiders]).toEqual([[], []]);
  });

  it('keeps pending computers without an inventory, and every other with contact and packages', async () => {
    const [row] = await first.db.query(
      `select count(*) filter (where c.state = 'pending' and p.computer_id is not null) as early,
         count(*) filter (where c.state = 'approved' and p.computer_id is null and c.distribution <> '11') as bare,
         count(*) filter (where c.state = 'approved' and t.last_ping_time > $1::timestamptz - interval '5 min') > 200 as online,
         count(*) filter (where t.last_ping_time > $1::timestamptz) as ahead
       from computer c left join computer_packages p on p.computer_id = c.id
         left join computer_contact t on t.computer_id = c.id`,
      [NOW],
    );
    expect(row).toEqual({ early: 0, bare: 0, online: true, ahead: 0 });
  });

  it('stands beside computers that are there already', async () => {
    const before = await first.db.query('select max(id) as last from computer');
    const range = await generateComputers(first.database.persistence.db, {
      accountId: first.accountId,
      computers: 30,
      seed: 9,
      prototypes: 25,
      now: NOW,
    });
    expect(range.last - range.first).toBe(29);
    expect(range.first).toBeGreaterThan(before[0]!['last'] as number);
  });
});
