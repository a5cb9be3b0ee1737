import type { Sql } from '../database/sql.ts';
import { SystemSetting } from './system-setting.entity.ts';

/** Null when it has no value. */
export async function findSetting({ em }: Sql, key: string): Promise<string | null> {
  return (await em.findOne(SystemSetting, key))?.value ?? null;
}

/** @returns false when the key already has a value, which is kept */
export async function insertSetting({ em }: Sql, key: string, value: string): Promise<boolean> {
  const statement = em.getKysely().insertInto('system_setting').values({ key, value });
  const row = await statement
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst();
  return row !== undefined;
}

/** Idempotent. */
export async function deleteSetting({ em }: Sql, key: string): Promise<void> {
  await em.nativeDelete(SystemSetting, key);
}
