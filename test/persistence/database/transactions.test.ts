import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDefaultPlanning } from '../../../src/persistence/database/transactions.ts';
import { Account } from '../../../src/persistence/identity/account.entity.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

const POOL_SIZE = 2;

describe('a transaction', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: POOL_SIZE });
    await database.persistence.db.query(`insert into account (name, title) values ('first', 'First')`);
  });

  afterAll(async () => {
    await database?.drop();
  });

  const titles = async (): Promise<string[]> => {
    const rows = await database.persistence.db.query<{ title: string }>('select title from account order by id');
    return rows.map(({ title }) => title);
  };

  it('shows changed entities to the statements after them, and nobody else until its commit', async () => {
    const { db } = database.persistence;
    await db.transaction(async (tx) => {
      const account = await tx.em.findOneOrFail(Account, { name: 'first' });
      account.title = 'Changed';
      const seen = await tx.query<{ title: string }>('select title from account where id = $1', [account.id]);
      expect(seen).toEqual([{ title: 'Changed' }]);
      expect(await titles()).toEqual(['First']);
      account.title = 'Changed again';
    });
    expect(await titles()).toEqual(['Changed again']);
  });

  it.each(['db', 'genericPlanDb'] as const)('finds entities (%s)', async (name) => {
    const found = await database.persistence[name].transaction((tx) => tx.em.findOne(Account, { name: 'first' }));
    expect(found?.name).toBe('first');
  });

  it('takes back entities and statements together', async () => {
    const { db } = database.persistence;
    const failing = db.transaction(async (tx) => {
      const account = await tx.em.findOneOrFail(Account, { name: 'first' });
      account.title = 'Lost';
      await tx.query(`insert into account (name, title) values ('second', 'Second')`);
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(await titles()).toEqual(['Changed again']);
  });

  it('reads native types by statements and by Kysely, and prepares named statements', async () => {
    const { db } = database.persistence;
    await db.transaction(async (tx) => {
      const text = `select 9::bigint as big, to_timestamp(0) as time, '{"a": 1}'::jsonb as json`;
      const expected = { big: 9, time: new Date(0), json: { a: 1 } };
      expect(await tx.query(text, [], 'types-of-rows')).toEqual([expected]);
      const { rows } = await tx.em.getKysely().executeQuery({ sql: text, parameters: [] } as never);
      expect(rows).toEqual([expected]);
      const prepared = await tx.query(`select statement from pg_prepared_statements where name = 'types-of-rows'`);
      expect(prepared).toEqual([{ statement: text }]);
    });
  });

  it('returns to default planning until its end', async () => {
    const { genericPlanDb } = database.persistence;
    const [mode, scans] = ['show plan_cache_mode', 'show enable_seqscan'];
    await genericPlanDb.transaction(async (tx) => {
      await useDefaultPlanning(tx);
      expect(await tx.query(mode)).toEqual([{ plan_cache_mode: 'auto' }]);
      expect(await tx.query(scans)).toEqual([{ enable_seqscan: 'on' }]);
    });
    expect(await genericPlanDb.query(mode)).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
    expect(await genericPlanDb.query(scans)).toEqual([{ enable_seqscan: 'off' }]);
  });

  it.each(['db', 'genericPlanDb'] as const)('whose connection is lost leaves the pool whole (%s)', async (name) => {
    const db = database.persistence[name];
    const lose = () => db.transaction((tx) => tx.query('select pg_terminate_backend(pg_backend_pid())'));
    for (let i = 0; i < 2 * POOL_SIZE; i += 1) await expect(lose()).rejects.toThrow();
    await expect.poll(() => db.transaction((tx) => tx.query('select 1 as one'))).toEqual([{ one: 1 }]);
    expect(database.persistence.pools().every(({ used }) => used === 0)).toBe(true);
  });
});
