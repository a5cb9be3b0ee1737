import type { Sql } from '../database/sql.ts';

/** The account's limit of messages waiting for one computer; null for none. */
export async function readMessageBacklog(sql: Sql, accountId: number): Promise<number | null> {
  const [row] = await sql.query<{ bound: number | null }>(READ, { accountId });
  return row!.bound;
}

/** Sets or removes (null) the limit, checked at delivery and so for queued messages too. @returns the previous limit */
export async function setMessageBacklog(tx: Sql, accountId: number, bound: number | null): Promise<number | null> {
  const [row] = await tx.query<{ bound: number | null }>(`${READ} for no key update`, { accountId });
  const before = row!.bound;
  if (before !== bound)
    await tx.query('update account set max_message_backlog = :bound where id = :accountId', { accountId, bound });
  return before;
}

const READ = 'select max_message_backlog as bound from account where id = :accountId';
