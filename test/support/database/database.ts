import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import { ACTIVITY_STATUSES, TRANSITIONS } from '../../../src/domain/activities/status.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { runService } from '../common/process.ts';
import type { PostgresService } from '../stack/global-setup.ts';

export interface TestDatabase {
  url: string;
  persistence: Persistence;
  /** Closes the persistence and removes the database, whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * A migrated, empty database of its own, cloned from the run's template. Call it once per test file, `drop` at its end.
 *
 * @param options - `migrated: false` leaves the schema out
 */
export async function createTestDatabase(
  options: { poolSize?: number; migrated?: boolean } = {},
): Promise<TestDatabase> {
  const { adminUrl, template } = await runService<PostgresService>('postgres');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const source = options.migrated === false ? 'template0' : template;
  await administer(adminUrl, `create database ${name} template ${source} strategy file_copy`);
  const url = adminUrl.replace(/\/postgres$/, `/${name}`);
  const persistence = await openPersistence({ url, poolSize: options.poolSize ?? 10, applicationName: name });
  return {
    url,
    persistence,
    async drop() {
      await persistence.close();
      await administer(adminUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

const BLOCKED_LIMIT_MS = 20_000;

/**
 * Waits until a statement on this database waits for a lock; those of other databases of the server do not count.
 *
 * @param db - not a transaction, which would see the same result forever
 */
export async function untilBlocked(db: Sql): Promise<void> {
  const blocked = () =>
    db.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`);
  await expect.poll(blocked, { timeout: BLOCKED_LIMIT_MS }).toHaveLength(1);
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Of failed logins, which are counted. */
const VOLATILE = ['login_failure', 'login_address'];

/**
 * Digest of every table that requests may change, or of one account's rows of them; what every login writes aside.
 */
export async function fingerprint(db: Database, accountId?: number): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all($1)
       and ($2 or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id'))
     order by 1`,
    [VOLATILE, accountId === undefined],
  );
  const where = accountId === undefined ? '' : `where account_id = ${accountId}`;
  const parts = tables.map(({ name }) => {
    const row = name === 'person' ? `to_jsonb(t) - 'last_login_time' - 'last_login_host'` : 't';
    return `select '${name}:' || md5(coalesce(string_agg((${row})::text, '' order by (${row})::text), '')) as line from "${name}" t ${where}`;
  });
  const rows = await db.query<{ line: string }>(parts.join(' union all '));
  return rows
    .map(({ line }) => line)
    .sort()
    .join('\n');
}

/** A database whose process dies after so many statements of a transaction. */
export function dyingAfter(db: Database, statements: number): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => {
        let left = statements;
        return work({
          ...tx,
          query: (text, values, name) => {
            if (left-- === 0) throw new Error('killed');
            return tx.query(text, values, name);
          },
        });
      }),
  };
}

/** Rows of these tables that `work` reads, in its transaction; the connection also counts what it did before. */
export async function countRowsRead<T>(
  tx: Sql,
  tables: readonly string[],
  work: () => Promise<T>,
): Promise<{ result: T; count: number }> {
  const before = await readRowCount(tx, tables);
  const result = await work();
  return { result, count: (await readRowCount(tx, tables)) - before };
}

async function readRowCount(tx: Sql, tables: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ read: number }>(
    `select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = any($1::text[])`,
    [tables],
  );
  return row!.read;
}

interface PlanNode {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

interface Explained {
  Plan: PlanNode;
}

/** Runs a statement: the rows it gives, the blocks of tables and indexes it touches, the pairs of rows joined in vain. */
export async function costOf(db: Sql, text: string, values: object) {
  const [row] = await db.query<{ 'QUERY PLAN': Explained[] }>(
    `explain (analyze, buffers, format json) ${text}`,
    values,
  );
  const { Plan: plan } = row!['QUERY PLAN'][0]!;
  const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  return { rows: plan['Actual Rows'], blocks, mismatches: mismatchesOf(plan) };
}

function mismatchesOf(node: PlanNode): number {
  const own = (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, part) => sum + mismatchesOf(part), own);
}

/** Makes the database reject every change of an operation's status that the table of transitions does not have. */
export async function guardStatuses(db: Sql): Promise<void> {
  const allowed = ACTIVITY_STATUSES.flatMap((from) => TRANSITIONS[from].map((to) => `('${from}', '${to}')`));
  await db.query(`
    create function check_transition() returns trigger language plpgsql as $$
    begin
      if (old.status, new.status) not in (${allowed.join(', ')}) then
        raise exception 'activity % went from % to %', old.id, old.status, new.status;
      end if;
      return null;
    end $$`);
  await db.query(`
    create trigger transition_check after update of status on activity for each row
    when (old.status is distinct from new.status and new.computer_id is not null) execute function check_transition()`);
}

/**
 * Copies every table and the place of every sequence within the database, as a dump of this instant would.
 *
 * @returns puts them back: everything since is lost
 */
export async function takeBackup(db: Database): Promise<() => Promise<void>> {
  const tables = await names(db, `select tablename as name from pg_tables where schemaname = 'public'`);
  const sequences = await names(db, `select sequencename as name from pg_sequences where schemaname = 'public'`);
  const columns = await columnsOf(db);
  const places = await db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read');
    await tx.query('drop schema if exists backup cascade');
    await tx.query('create schema backup');
    for (const table of tables) await tx.query(`create table backup."${table}" as table public."${table}"`);
    const found = [];
    for (const name of sequences) found.push(await placeOf(tx, name));
    return found;
  });
  return () =>
    db.transaction(async (tx) => {
      // No trigger and no foreign key may add to what the backup holds.
      await tx.query(`set local session_replication_role = 'replica'`);
      await tx.query(`truncate ${tables.map((table) => `public."${table}"`).join(', ')}`);
      for (const table of tables) {
        const list = columns.get(table)!;
        await tx.query(
          `insert into public."${table}" (${list}) overriding system value select ${list} from backup."${table}"`,
        );
      }
      for (const [index, name] of sequences.entries())
        await tx.query(`select setval($1::regclass, $2, $3)`, [
          `public."${name}"`,
          places[index]!.at,
          places[index]!.used,
        ]);
    });
}

async function names(db: Sql, query: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(`${query} order by 1`);
  return rows.map(({ name }) => name);
}

async function placeOf(tx: Sql, sequence: string): Promise<{ at: number; used: boolean }> {
  const [row] = await tx.query<{ at: number; used: boolean }>(
    `select last_value as at, is_called as used from public."${sequence}"`,
  );
  return row!;
}

/** The columns that are stored as given, by table. */
async function columnsOf(db: Sql): Promise<Map<string, string>> {
  const rows = await db.query<{ name: string; list: string }>(
    `select table_name as name, string_agg(quote_ident(column_name), ', ' order by ordinal_position) as list
     from information_schema.columns where table_schema = 'public' and is_generated = 'NEVER' group by table_name`,
  );
  return new Map(rows.map(({ name, list }) => [name, list]));
}
