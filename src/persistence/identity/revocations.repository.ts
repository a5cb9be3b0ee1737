import { raw } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { Account } from './account.entity.ts';
import { RevokedToken } from './credential.entity.ts';
import { Person } from './person.entity.ts';

/** Ends the tokens with these ids or session ids, and deletes expired revocations. */
export async function revokeTokens(
  sql: Sql,
  { ids, expiresAt }: { ids: readonly string[]; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { em } = sql;
  const tokens = [...new Set(ids)].map((tokenId) => ({ tokenId, expiresAt }));
  await em.upsertMany(RevokedToken, tokens, { onConflictAction: 'ignore' });
  await em.nativeDelete(RevokedToken, { expiresAt: { $lt: now } });
}

export async function revokePerson(tx: Sql, personId: number): Promise<void> {
  await tx.em.nativeUpdate(Person, personId, { tokenEpoch: raw('token_epoch + 1') });
}

/** Ends every token for an account. @returns null when there is no such account */
export async function revokeAccount(
  tx: Sql,
  by: { id: number } | { name: string },
): Promise<{ id: number; name: string; title: string } | null> {
  await tx.em.nativeUpdate(Account, by, { tokenEpoch: raw('token_epoch + 1') });
  return tx.em.findOne(Account, by);
}

export async function revokeSystem(tx: Sql): Promise<void> {
  await tx.query(`update system_setting set value = (value::int + 1)::text where key = 'token_epoch'`);
}

/**
 * As {@link revokeSystem}, for a restored database that may not know the latest epoch: the new one is the number of
 * seconds since 2026, higher than any earlier revocation can have reached.
 */
export async function revokeAfterRestore(tx: Sql): Promise<void> {
  await tx.query(
    `update system_setting set value = greatest(value::int + 1, extract(epoch from now() - timestamptz '2026-01-01Z')::int)::text
     where key = 'token_epoch'`,
  );
}
