import { raw } from '@mikro-orm/core';
import { SystemSetting } from '../common/system-setting.entity.ts';
import { lockExclusive } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';
import { Account } from './account.entity.ts';
import { RevokedToken } from './credential.entity.ts';
import { Person } from './person.entity.ts';

/** Serializes changes of members, roles, invitations, groups. Take it before row locks (deadlocks); readers go on. */
export async function lockRights(tx: Sql, accountId: number): Promise<void> {
  await lockExclusive(tx, 'rights', accountId);
}

/** Ends the tokens with these ids or session ids, and deletes expired revocations. */
export async function revokeTokens(
  { em }: Sql,
  { ids, expiresAt }: { ids: readonly string[]; expiresAt: Date },
  now: Date,
): Promise<void> {
  const tokens = [...new Set(ids)].map((tokenId) => ({ tokenId, expiresAt }));
  await em.upsertMany(RevokedToken, tokens, { onConflictAction: 'ignore' });
  await em.nativeDelete(RevokedToken, { expiresAt: { $lt: now } });
}

function nextEpoch() {
  return { tokenEpoch: raw('token_epoch + 1') };
}

/** Ends every token of the person. */
export async function revokePerson(tx: Sql, personId: number): Promise<void> {
  await tx.em.nativeUpdate(Person, personId, nextEpoch());
}

/** Stores a new password and ends every token of the person. */
export async function replacePassword(tx: Sql, personId: number, passwordHash: string): Promise<void> {
  await tx.em.nativeUpdate(Person, personId, { passwordHash, ...nextEpoch() });
}

/** Ends every token for an account. @returns null when there is no such account */
export async function revokeAccount(tx: Sql, by: { id: number } | { name: string }): Promise<Account | null> {
  await tx.em.nativeUpdate(Account, by, nextEpoch());
  return tx.em.findOne(Account, by);
}

/** Ends every token of every person. */
export async function revokeSystem(tx: Sql): Promise<void> {
  await tx.em.nativeUpdate(SystemSetting, { key: 'token_epoch' }, { value: raw('(value::int + 1)::text') });
}

/** As {@link revokeSystem}, after a restore: the epoch is seconds since 2026, higher than any that may be lost. */
export async function revokeAfterRestore(tx: Sql): Promise<void> {
  const seconds = `extract(epoch from now() - timestamptz '2026-01-01Z')::int`;
  const value = raw(`greatest(value::int + 1, ${seconds})::text`);
  await tx.em.nativeUpdate(SystemSetting, { key: 'token_epoch' }, { value });
}
