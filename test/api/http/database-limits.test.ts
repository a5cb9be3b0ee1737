import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isDatabaseUnavailable } from '../../../src/persistence/database/errors.ts';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import type { DatabaseLimits } from '../../../src/process/config.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type ApiResponse, createAdmin, createTestApp, type TestApp } from '../../support/http/app.ts';

const POOL_SIZE = 2;
let database: TestDatabase;
let persistence: Persistence;
let app: TestApp;
let token: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await createAdmin(database.persistence);
  persistence = await openLimited({ lockSeconds: 1 });
  app = await createTestApp(persistence);
  token = await app.login();
});

/** Only one limit in each: on a busy machine anything may take a second. */
function openLimited(limit: Partial<DatabaseLimits>): Promise<Persistence> {
  return openPersistence({
    url: database.url,
    poolSize: POOL_SIZE,
    applicationName: 'limits',
    limits: { statementSeconds: 0, lockSeconds: 0, idleSeconds: 0, ...limit },
  });
}

afterAll(async () => {
  await app?.close();
  await persistence?.close();
  await database?.drop();
});

const read = () => app.call('GET', '/computers', { token });
const rename = (name: string) => app.call('POST', '/person', { token, body: { name } });

function expectLater(response: ApiResponse): void {
  expect(response.body).toEqual({ error: 'ServiceUnavailable', message: expect.any(String), code: 503 });
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
}

/** Repeats what fails while connections are made anew. */
function untilOk(call: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const succeeds = async () => {
    const response = await call();
    expect(response.status).toBe(200);
    return response;
  };
  return vi.waitFor(succeeds, { timeout: 20_000 });
}

describe('database timeouts', () => {
  it('respond with 503 to a call that waits too long for a lock, and lose no connection', async () => {
    const holder = await database.persistence.db.connect();
    await holder.query('begin; lock table computer in access exclusive mode');
    for (let i = 0; i <= POOL_SIZE; i++) expectLater(await read());
    await holder.query('rollback');
    holder.release();
    expect((await read()).status).toBe(200);
  });

  it('end a statement that runs too long', async () => {
    const limited = await openLimited({ statementSeconds: 1 });
    const error = await limited.db.query('select pg_sleep(600)').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: '57014' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    await expect(limited.genericPlanDb.query('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
    await limited.close();
  });

  it('end an idle transaction', async () => {
    const limited = await openLimited({ idleSeconds: 1 });
    const abandoned = limited.db.transaction(async (tx) => {
      await tx.query(`update account set title = 'abandoned'`);
      const [connection] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      const open = () => persistence.db.query('select from pg_stat_activity where pid = $1', [connection!.pid]);
      await expect.poll(open).toEqual([]);
      await tx.query('select 1');
    });
    const error = await abandoned.catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(true);
    const rows = await persistence.db.query(`select from account where title = 'abandoned'`);
    expect(rows).toEqual([]);
    await limited.close();
  });

  it('respond with 503 while all connections are in use, and recover once one is free', async () => {
    const held: PoolClient[] = [];
    for (let i = 0; i < POOL_SIZE; i++) held.push(await persistence.db.connect());
    expectLater(await read());
    for (const client of held) client.release();
    expect((await read()).status).toBe(200);
    const again = await Promise.all(Array.from({ length: POOL_SIZE }, () => persistence.db.connect()));
    for (const client of again) client.release();
  });
});

describe('a transaction that conflicts with others', () => {
  const lost = (code: string) => Object.assign(new Error('lost'), { code });

  it.each(['40001', '40P01'])('is retried as a whole (%s)', async (code) => {
    let tries = 0;
    await persistence.db.transaction(async (tx) => {
      await tx.query('insert into system_setting (key, value) values ($1, $2)', [`lost-${code}`, String(++tries)]);
      if (tries < 3) throw lost(code);
    });
    const rows = await persistence.db.query('select value from system_setting where key = $1', [`lost-${code}`]);
    expect(rows).toEqual([{ value: '3' }]);
  });

  it('fails after a few attempts, like an unavailable database', async () => {
    let tries = 0;
    const error = await persistence.db
      .transaction(async () => {
        tries += 1;
        throw lost('40P01');
      })
      .catch((thrown: unknown) => thrown);
    expect([tries, isDatabaseUnavailable(error)]).toEqual([4, true]);
  });

  it('is not retried for any other reason', async () => {
    let tries = 0;
    const work = async () => {
      tries += 1;
      throw lost('23505');
    };
    await expect(persistence.db.transaction(work)).rejects.toThrow('lost');
    expect(tries).toBe(1);
  });
});

describe('a read-only database', () => {
  const setReadOnly = async (on: boolean): Promise<void> => {
    const { db } = database.persistence;
    const [row] = await db.query<{ name: string }>('select quote_ident(current_database()) as name');
    const change = on ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only';
    // The reset needs a transaction that writes.
    await db.transaction(async (tx) => {
      await tx.query('set transaction read write');
      await tx.query(`alter database ${row!.name} ${change}`);
    });
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'limits'`);
  };

  it('responds with 503 to writes, still reads, and recovers by itself', async () => {
    const { name } = (await app.call('GET', '/person', { token })).body;
    await setReadOnly(true);
    await untilOk(read);
    expectLater(await rename('Somebody Else'));
    expect((await app.call('GET', '/person', { token })).body.name).toBe(name);
    await setReadOnly(false);
    expect((await untilOk(() => rename('Somebody Else'))).body.name).toBe('Somebody Else');
  });
});
