import { LockMode } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { Credential } from './credential.entity.ts';
import type { LoginPerson } from './logins.repository.ts';

export interface AccessKeyRow {
  accessKey: string;
  name: string;
  creationTime: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

export interface FoundAccessKey {
  person: LoginPerson;
  accountName: string;
  secretDigest: Buffer;
  expiresAt: Date | null;
}

/** The person, account and secret behind an access key. */
export async function findAccessKey(sql: Sql, accessKey: string): Promise<FoundAccessKey | null> {
  const rows = await sql.query<LoginPerson & Omit<FoundAccessKey, 'person'>>(
    `select p.id, p.name, p.email, p.password_hash, p.token_epoch, p.preferred_account_id,
       a.name as "accountName", k.secret_digest as "secretDigest", k.expires_at as "expiresAt"
     from credential k join person p on p.id = k.person_id join account a on a.id = k.account_id
     where k.access_key = :accessKey`,
    { accessKey },
  );
  const [row] = rows;
  if (!row) return null;
  const { accountName, secretDigest, expiresAt, ...person } = row;
  return { person, accountName, secretDigest, expiresAt };
}

const COLUMNS = `k.access_key as "accessKey", k.name, k.creation_time as "creationTime", k.expires_at as "expiresAt",
  k.last_used_at as "lastUsedAt"`;

/** Every account of a person, in order of joining, with their keys, oldest first; one row for an account without. */
export function listAccessKeys(
  sql: Sql,
  personId: number,
): Promise<Array<{ accountName: string; accountTitle: string } & (AccessKeyRow | { accessKey: null })>> {
  return sql.query(
    `select a.name as "accountName", a.title as "accountTitle", ${COLUMNS}
     from membership m join account a on a.id = m.account_id
     left join credential k on k.account_id = m.account_id and k.person_id = m.person_id
     where m.person_id = :personId order by m.creation_time, a.id, k.creation_time, k.access_key`,
    { personId },
  );
}

/** Names of a person's keys for an account. */
export async function accessKeyNames(sql: Sql, personId: number, accountId: number): Promise<string[]> {
  const keys = await sql.em.find(Credential, { personId, accountId }, { fields: ['name'] });
  return keys.map(({ name }) => name);
}

/** @remarks The person's row is locked: no other key of theirs is created meanwhile. */
export async function insertAccessKey(
  tx: Sql,
  key: {
    accessKey: string;
    accountId: number;
    personId: number;
    name: string;
    secretDigest: Buffer;
    creationTime: Date;
    expiresAt: Date | null;
  },
): Promise<void> {
  await tx.em.insert(Credential, key);
}

/** Deletes one key of a person. @returns null when they have no such key */
export async function deleteAccessKey(
  tx: Sql,
  personId: number,
  accessKey: string,
): Promise<{ name: string; accountId: number } | null> {
  const key = await tx.em.findOne(Credential, { personId, accessKey }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (key) tx.em.remove(key);
  return key;
}

/** Deletes every key of a person. @returns how many there were */
export async function deleteAccessKeys(tx: Sql, personId: number): Promise<number> {
  return tx.em.nativeDelete(Credential, { personId });
}
