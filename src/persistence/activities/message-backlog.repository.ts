import type { Sql } from '../database/sql.ts';

/** The account's limit of messages waiting for one computer; null for none. */
export async function readMessageBacklog(sql: Sql, accountId: number): Promise<number | null> {
  return (await limitOf(sql, accountId).executeTakeFirstOrThrow()).max_message_backlog;
}

/**
 * Sets or removes (null) the limit, checked at delivery and so for queued messages too. No lock mode of the entity
 * manager is as weak as `for no key update`. @returns the previous limit
 */
export async function setMessageBacklog(tx: Sql, accountId: number, bound: number | null): Promise<number | null> {
  const { max_message_backlog: before } = await limitOf(tx, accountId).forNoKeyUpdate().executeTakeFirstOrThrow();
  const update = tx.em.getKysely().updateTable('account').set({ max_message_backlog: bound });
  if (before !== bound) await update.where('id', '=', accountId).execute();
  return before;
}

const limitOf = ({ em }: Sql, accountId: number) =>
  em.getKysely().selectFrom('account').select('max_message_backlog').where('id', '=', accountId);
