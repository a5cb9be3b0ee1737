import { LockMode } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { Account } from './account.entity.ts';

/** The preferences of an account. Without a registration key computers need none; -1 keeps audits forever. */
export type Preferences = Pick<Account, 'title' | 'registrationKey' | 'autoRegister' | 'auditRetentionDays'>;

export async function findPreferences(sql: Sql, accountId: number): Promise<Preferences | null> {
  return sql.em.findOne(Account, accountId);
}

/** Changes the given fields; undefined ones are unchanged. */
export async function updatePreferences(
  tx: Sql,
  accountId: number,
  change: Partial<Preferences>,
): Promise<Preferences | null> {
  const account = await tx.em.findOne(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return account && tx.em.assign(account, change, { ignoreUndefined: true });
}
