import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate, openPersistence } from '../../src/persistence/orm/orm.ts';
import { ensureRoles } from '../../tools/stack/database/database-roles.ts';
import { startPostgres } from '../../tools/stack/database/postgres.ts';
import { findFreePort } from '../../tools/stack/processes/ports.ts';
import { APPLICATION_ROLE } from '../../tools/stack/topology/roles.ts';
import { temporaryDirectory } from '../support/common/process.ts';

const [SUPER, FORMER, OURS, THEIRS] = Array.from({ length: 4 }, () => randomBytes(9).toString('hex')) as [
  string,
  string,
  string,
  string,
];
const ROLES = [
  { ...APPLICATION_ROLE, password: OURS },
  { name: 'temporal', password: THEIRS, databases: ['temporal'] },
];

async function aServer(superuser: string, password: string) {
  const directory = await temporaryDirectory();
  const server = await startPostgres({
    dataDir: join(directory, 'postgres'),
    port: await findFreePort(),
    password,
    superuser,
    logFile: join(directory, 'postgres.log'),
    durable: false,
  });
  onTestFinished(() => server.stop());
  const query = async (user: string, secret: string, database: string, sql: string): Promise<unknown[][]> => {
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user, password: secret, database });
    await client.connect();
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows;
    } finally {
      await client.end();
    }
  };
  const ensure = () => ensureRoles({ port: server.port, superuserPassword: SUPER }, ROLES, FORMER);
  return { server, query, ensure };
}

const RIGHTS = `select rolname, rolsuper, rolcreatedb, rolcreaterole from pg_roles where rolname !~ '^pg_' order by 1`;
const ONLY = [
  ['flotilla', false, false, false],
  ['postgres', true, true, true],
  ['temporal', false, false, false],
];

describe('the roles of the embedded PostgreSQL', { timeout: 60_000 }, () => {
  it('are made with their databases, which the others cannot enter; any number of times', async () => {
    const { server, query, ensure } = await aServer('postgres', SUPER);
    await ensure();
    const persistence = await openPersistence({
      url: `postgres://flotilla:${OURS}@127.0.0.1:${server.port}/flotilla`,
      poolSize: 2,
      applicationName: 'test',
    });
    await migrate(persistence);
    await persistence.close();
    await query('postgres', SUPER, 'postgres', 'alter database postgres set default_transaction_read_only = on');
    await ensure();
    await query('postgres', SUPER, 'postgres', 'begin read write; alter database postgres reset all; commit');
    expect(await query('postgres', SUPER, 'postgres', RIGHTS)).toEqual(ONLY);
    expect(await query('flotilla', OURS, 'flotilla', 'select count(*)::int from account')).toEqual([[0]]);
    await expect(query('temporal', THEIRS, 'flotilla', 'select 1')).rejects.toThrow('permission denied for database');
    await expect(query('flotilla', OURS, 'temporal', 'select 1')).rejects.toThrow('permission denied for database');
    await expect(query('flotilla', OURS, 'flotilla', 'create role more')).rejects.toThrow('permission denied');
  });

  it('take over what a superuser of the same name owned in a cluster of before', async () => {
    const { server, query, ensure } = await aServer('flotilla', FORMER);
    await query('flotilla', FORMER, 'postgres', 'create database flotilla');
    const persistence = await openPersistence({
      url: `postgres://flotilla:${FORMER}@127.0.0.1:${server.port}/flotilla`,
      poolSize: 2,
      applicationName: 'test',
    });
    await migrate(persistence);
    await persistence.db.query(`insert into system_setting values ('kept', 'yes')`);
    await persistence.close();
    await ensure();
    await ensure();
    expect(await query('postgres', SUPER, 'postgres', RIGHTS)).toEqual(ONLY);
    const owned = await query(
      'flotilla',
      OURS,
      'flotilla',
      `select value, (select count(*)::int from pg_class c
         where relnamespace = 'public'::regnamespace and relowner <> 'flotilla'::regrole),
         (select datdba::regrole::text from pg_database where datname = 'flotilla')
       from system_setting where key = 'kept'`,
    );
    expect(owned).toEqual([['yes', 0, 'flotilla']]);
    await query('flotilla', OURS, 'flotilla', 'alter table account add column another int; drop table event');
    await expect(query('flotilla', FORMER, 'flotilla', 'select 1')).rejects.toThrow('password authentication failed');
  });

  it('are made after a stop in the middle of taking over', async () => {
    const { query, ensure } = await aServer('flotilla', FORMER);
    await query('flotilla', FORMER, 'postgres', `create role flotilla_upgrade superuser login password 'x'`);
    await ensure();
    expect(await query('postgres', SUPER, 'postgres', RIGHTS)).toEqual(ONLY);
  });
});
