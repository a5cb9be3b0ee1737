import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import { readBaseActivity } from '../activities/activities.sql.ts';
import type { Sql } from '../database/sql.ts';
import { ComputerRecoveryKey } from './computer-facts.entity.ts';
import { Computer } from './computer.entity.ts';

export const GENERATE_RECOVERY_KEY = 'GenerateFDERecoveryKeyRequest';

type EncryptedKey = Pick<ComputerRecoveryKey, 'keyId' | 'ciphertext'>;

/** Locks a computer, so that concurrent requests see each other's operations. Supported: its agent can generate keys. */
export async function lockKeyTarget(tx: Sql, computerId: number): Promise<{ title: string; supported: boolean }> {
  const types = tx.em
    .getKysely()
    .selectFrom('computer_inventory')
    .select(sql<boolean>`'fde-recovery-key' = any(client_types)`.as('supported'))
    .where('computer_id', '=', computerId);
  const computer = tx.em.getKysely().selectFrom('computer').select('title').where('id', '=', computerId);
  const { title } = await computer.forNoKeyUpdate().executeTakeFirstOrThrow();
  return { title, supported: (await types.executeTakeFirst())?.supported ?? false };
}

const generations = (db: Sql, computerId: number) =>
  db.em
    .getKysely()
    .selectFrom('activity')
    .select(['id', 'parent_id', 'status'])
    .where('computer_id', '=', computerId)
    .where('type', '=', GENERATE_RECOVERY_KEY);

/** Whether the computer has an open generation of a key. */
export async function isGenerating(tx: Sql, computerId: number): Promise<boolean> {
  const open = await generations(tx, computerId).where('status', 'not in', FINAL_STATUSES).executeTakeFirst();
  return open !== undefined;
}

/** The group of the computer's latest generation, unless that succeeded. */
export async function readUnfinishedGeneration(db: Sql, computerId: number, now: Date) {
  const latest = await generations(db, computerId).orderBy('id', 'desc').limit(1).executeTakeFirst();
  if (!latest || latest.status === 'succeeded') return null;
  return readBaseActivity(db, latest.parent_id ?? latest.id, now);
}

/** Title and stored key of a computer. */
export async function readEncryptedKey({ em }: Sql, computerId: number) {
  const { title } = await em.findOneOrFail(Computer, computerId, { fields: ['title'] });
  return { title, key: await em.findOne(ComputerRecoveryKey, computerId) };
}

/** Re-encrypts keys encrypted with one of `readable`, but not with `keyId`; skips locked ones. @returns how many */
export async function reencryptKeys(
  tx: Sql,
  { keyId, readable, limit }: { keyId: string; readable: string[]; limit: number },
  reencrypt: (computerId: number, key: EncryptedKey) => EncryptedKey,
): Promise<number> {
  const keys = await tx.em.find(
    ComputerRecoveryKey,
    { keyId: { $ne: keyId, $in: readable } },
    { orderBy: { computer: 'asc' }, limit, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE },
  );
  for (const key of keys) tx.em.assign(key, reencrypt(key.computer.id, key));
  return keys.length;
}

/** Number of keys that are encrypted with none of `readable`. */
export async function countUnreadableKeys(db: Sql, readable: string[]): Promise<number> {
  return db.em.count(ComputerRecoveryKey, { keyId: { $nin: readable } });
}
