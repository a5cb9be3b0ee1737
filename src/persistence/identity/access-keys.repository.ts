import { LockMode } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { Credential } from './credential.entity.ts';

/** Every account of a person, in order of joining, with their keys, oldest first; one row for an account without. */
export function listAccessKeys(sql: Sql, personId: number) {
  return sql.em
    .getKysely()
    .selectFrom('membership as m')
    .innerJoin('account as a', 'a.id', 'm.account_id')
    .leftJoin('credential as k', (on) =>
      on.onRef('k.account_id', '=', 'm.account_id').onRef('k.person_id', '=', 'm.person_id'),
    )
    .select(['a.name as accountName', 'a.title as accountTitle', 'k.access_key as accessKey', 'k.name'])
    .select(['k.creation_time as creationTime', 'k.expires_at as expiresAt', 'k.last_used_at as lastUsedAt'])
    .where('m.person_id', '=', personId)
    .orderBy('m.creation_time')
    .orderBy('a.id')
    .orderBy('k.creation_time')
    .orderBy('k.access_key')
    .execute();
}

/** Names of a person's keys for an account. */
export async function accessKeyNames(sql: Sql, personId: number, accountId: number): Promise<string[]> {
  const keys = await sql.em.find(Credential, { personId, accountId }, { fields: ['name'] });
  return keys.map(({ name }) => name);
}

/** @remarks The person's row is locked: no other key of theirs is created meanwhile. */
export function insertAccessKey(tx: Sql, key: Omit<Credential, 'lastUsedAt' | 'membership'>): void {
  tx.em.create(Credential, key);
}

/** Deletes one key of a person. @returns null when they have no such key */
export async function deleteAccessKey(tx: Sql, personId: number, accessKey: string): Promise<Credential | null> {
  const key = await tx.em.findOne(Credential, { personId, accessKey }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (key) tx.em.remove(key);
  return key;
}

/** Deletes every key of a person. @returns how many there were */
export async function deleteAccessKeys(tx: Sql, personId: number): Promise<number> {
  return tx.em.nativeDelete(Credential, { personId });
}
