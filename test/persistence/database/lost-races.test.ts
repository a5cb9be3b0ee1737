import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';

describe('transactions that are in each other’s way', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.persistence.db.query('create table contested (id int primary key, n int not null)');
    await database.persistence.db.query('insert into contested values (1, 0), (2, 0)');
  });

  afterAll(async () => {
    await database?.drop();
  });

  it('are all done after a deadlock, each once', async () => {
    const { db } = database.persistence;
    const bothHold = Promise.withResolvers<void>();
    let holding = 0;
    let tries = 0;
    const inOrder = (first: number, second: number) =>
      db.transaction(async (tx) => {
        tries += 1;
        await tx.query('update contested set n = n + 1 where id = $1', [first]);
        holding += 1;
        if (holding === 2) bothHold.resolve();
        await bothHold.promise;
        await tx.query('update contested set n = n + 1 where id = $1', [second]);
      });
    await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
    expect(tries).toBe(3);
    expect(await db.query('select n from contested order by id')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  it.each(['40001', '40P01'])(
    'are given up with %s when they lose every time, and others at once',
    async (sqlState) => {
      const { db } = database.persistence;
      let tries = 0;
      const lose = (code: string) =>
        db.transaction(async (tx) => {
          tries += 1;
          await tx.query(`do $$ begin raise exception 'lost' using errcode = '${code}'; end $$`);
        });
      await expect(lose(sqlState)).rejects.toMatchObject({ code: sqlState });
      expect(tries).toBe(4);
      await expect(lose('57014')).rejects.toMatchObject({ code: '57014' });
      expect(tries).toBe(5);
    },
  );

  it('keep no connection', async () => {
    const { db } = database.persistence;
    const fail = () => db.transaction((tx) => tx.query('select 1 / 0'));
    const ends = await Promise.allSettled(Array.from({ length: 50 }, fail));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
