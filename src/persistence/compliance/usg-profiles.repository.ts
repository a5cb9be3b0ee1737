import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { UsgProfile } from './usg-profile.entity.ts';

/** One profile of any account, locked until the transaction ends; null when there is none. */
export function lockUsgProfile(tx: Sql, id: number): Promise<UsgProfile | null> {
  return tx.em.findOne(UsgProfile, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** One profile of any account, archived or not; null for none. */
export function readUsgProfile(sql: Sql, id: number): Promise<UsgProfile | null> {
  return sql.em.findOne(UsgProfile, id);
}

/** Flushes, so that the returned profile has its id. */
export async function insertUsgProfile(tx: Sql, profile: RequiredEntityData<UsgProfile>): Promise<UsgProfile> {
  const created = tx.em.create(UsgProfile, profile);
  await tx.em.flush();
  return created;
}
