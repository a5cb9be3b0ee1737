import type { Database, Sql } from '../../../src/persistence/database/sql.ts';

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
