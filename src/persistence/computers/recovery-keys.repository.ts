import { type BaseActivityRow, readBaseActivity } from '../activities/activities.repository.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';

/** Type of the operations that generate a recovery key. */
export const GENERATE_RECOVERY_KEY = 'GenerateFDERecoveryKeyRequest';

/** A recovery key as stored: encrypted, with the id of the encryption key. */
export interface EncryptedKeyRow {
  computer_id: number;
  key_id: string;
  ciphertext: Buffer;
}

export interface KeyTarget {
  title: string;
  /** Its agent can generate recovery keys. */
  supported: boolean;
}

/** Locks a computer, so that concurrent requests see each other's operations. @returns null when it was removed */
export async function lockKeyTarget(tx: Sql, computerId: number): Promise<KeyTarget | null> {
  const [row] = await tx.query<{ title: string }>(
    'select title from computer where id = :computerId for no key update',
    { computerId },
  );
  if (!row) return null;
  const [inventory] = await tx.query<{ supported: boolean }>(SUPPORTED, { computerId });
  return { title: row.title, supported: inventory?.supported ?? false };
}

export async function isGenerating(tx: Sql, computerId: number): Promise<boolean> {
  const [row] = await tx.query<{ open: boolean }>(OPEN, { computerId });
  return row!.open;
}

/** The group of the computer's latest generation, unless that succeeded. */
export async function readUnfinishedGeneration(
  db: Sql,
  computerId: number,
  now: Date,
): Promise<BaseActivityRow | null> {
  const [latest] = await db.query<{ shown: number; status: string }>(LATEST, { computerId });
  return latest === undefined || latest.status === 'succeeded' ? null : readBaseActivity(db, latest.shown, now);
}

/** Title and stored key of a computer; null when there is no such computer. */
export async function readEncryptedKey(
  db: Sql,
  computerId: number,
): Promise<{ title: string; key: EncryptedKeyRow | null } | null> {
  const [row] = await db.query<{ title: string; key_id: string | null; ciphertext: Buffer | null }>(READ, {
    computerId,
  });
  if (!row) return null;
  const { title, key_id, ciphertext } = row;
  return {
    title,
    key: key_id === null || ciphertext === null ? null : { computer_id: computerId, key_id, ciphertext },
  };
}

/** Locks some keys that are encrypted with one of `readable`, but not with `keyId`. */
export function lockKeysToRotate(
  tx: Sql,
  keyId: string,
  readable: readonly string[],
  limit: number,
): Promise<EncryptedKeyRow[]> {
  return tx.query<EncryptedKeyRow & Record<string, unknown>>(TO_ROTATE, { keyId, readable, limit });
}

/** Replaces the stored form of keys that the caller has locked. */
export async function replaceEncryptedKeys(tx: Sql, rows: readonly EncryptedKeyRow[]): Promise<void> {
  await tx.query(REPLACE, {
    computer_ids: rows.map(({ computer_id }) => computer_id),
    key_ids: rows.map(({ key_id }) => key_id),
    ciphertexts: rows.map(({ ciphertext }) => ciphertext),
  });
}

/** Number of keys that are encrypted with none of `readable`. */
export async function countUnreadableKeys(db: Sql, readable: readonly string[]): Promise<number> {
  const [row] = await db.query<{ count: number }>(UNREADABLE, { readable });
  return row!.count;
}

const SUPPORTED = `
  select coalesce('fde-recovery-key' = any(client_types), false) as supported
  from computer_inventory where computer_id = :computerId`;

const GENERATIONS = `activity a where a.computer_id = :computerId and a.type = '${GENERATE_RECOVERY_KEY}'`;

const OPEN = `
  select exists (select from ${GENERATIONS} and ${isOpen('a.status')}) as open`;

const LATEST = `
  select coalesce(a.parent_id, a.id) as shown, a.status from ${GENERATIONS} order by a.id desc limit 1`;

const READ = `
  select c.title, k.key_id, k.sealed as ciphertext
  from computer c left join computer_recovery_key k on k.computer_id = c.id where c.id = :computerId`;

const TO_ROTATE = `
  select computer_id, key_id, sealed as ciphertext from computer_recovery_key
  where key_id <> :keyId and key_id = any(:readable::text[])
  order by computer_id limit :limit for update skip locked`;

const REPLACE = `
  update computer_recovery_key k set key_id = n.key_id, sealed = n.ciphertext
  from unnest(:computer_ids::int[], :key_ids::text[], :ciphertexts::bytea[]) n(computer_id, key_id, ciphertext)
  where k.computer_id = n.computer_id`;

const UNREADABLE = `
  select count(*)::int as count from computer_recovery_key where key_id <> all(:readable::text[])`;
