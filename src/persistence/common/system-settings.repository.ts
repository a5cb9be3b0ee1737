import type { Sql } from '../database/sql.ts';

/** What the whole system keeps under a key; null when it keeps nothing. */
export async function findSetting(sql: Sql, key: string): Promise<string | null> {
  const rows = await sql.query<{ value: string }>('select value from system_setting where key = $1', [key]);
  return rows[0]?.value ?? null;
}

/** Keeps a value unless there is one. @returns whether this one is kept now */
export async function keepSetting(sql: Sql, key: string, value: string): Promise<boolean> {
  const rows = await sql.query(
    'insert into system_setting (key, value) values ($1, $2) on conflict do nothing returning key',
    [key, value],
  );
  return rows.length > 0;
}

/** Idempotent. */
export async function forgetSetting(sql: Sql, key: string): Promise<void> {
  await sql.query('delete from system_setting where key = $1', [key]);
}
