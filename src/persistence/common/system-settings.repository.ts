import type { Sql } from '../database/sql.ts';

export async function findSetting(sql: Sql, key: string): Promise<string | null> {
  const rows = await sql.query<{ value: string }>('select value from system_setting where key = :key', { key });
  return rows[0]?.value ?? null;
}

/** @returns false when the key already has a value, which is kept */
export async function insertSetting(sql: Sql, key: string, value: string): Promise<boolean> {
  const rows = await sql.query(
    'insert into system_setting (key, value) values (:key, :value) on conflict do nothing returning key',
    { key, value },
  );
  return rows.length > 0;
}

export async function deleteSetting(sql: Sql, key: string): Promise<void> {
  await sql.query('delete from system_setting where key = :key', { key });
}
