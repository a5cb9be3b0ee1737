import { shareLock, takeLock } from '../advisory-locks.ts';
import type { Sql } from '../sql.ts';
import { promoteAccount } from './agent-messages.repository.ts';

/** The account's bound on messages waiting for one computer; null for none. */
export async function readMessageBacklog(sql: Sql, accountId: number): Promise<number | null> {
  const [row] = await sql.query<{ bound: number | null }>(READ, [accountId]);
  return row!.bound;
}

/**
 * Reads the bound as {@link readMessageBacklog} and keeps it as it is until the transaction ends, for one that will
 * hold messages back: a change of the bound that comes between could not see them, and nobody would let them go.
 *
 * @remarks Shared among any number of transactions; taken after the lane's lock and before all others.
 */
export async function readBoundForHolding(tx: Sql, accountId: number): Promise<number | null> {
  await shareLock(tx, 'backlogBound', accountId);
  return readMessageBacklog(tx, accountId);
}

/**
 * Sets the bound, or takes it away with null, and lets held messages move up as far as there is room now, oldest first.
 *
 * @returns the bound before
 * @remarks What is queued already stays queued under a lower bound. Waits for transactions that are holding messages
 * back. Part of the caller's transaction.
 * @see api-decisions 10
 */
export async function setMessageBacklog(
  tx: Sql,
  accountId: number,
  bound: number | null,
  now: Date,
): Promise<number | null> {
  await takeLock(tx, 'backlogBound', accountId);
  const before = await readMessageBacklog(tx, accountId);
  if (before === bound) return before;
  await tx.query('update account set max_message_backlog = $2 where id = $1', [accountId, bound]);
  await promoteAccount(tx, accountId, now);
  return before;
}

const READ = 'select max_message_backlog as bound from account where id = $1';
