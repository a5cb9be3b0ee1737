import type { Sql } from '../database/sql.ts';

/** Where relays hear that the outbox has entries. */
export const OUTBOX_CHANNEL = 'flotilla_outbox';

/** Wakes relays once this transaction is committed. */
export async function wakeRelays(tx: Sql): Promise<void> {
  await tx.query(`select pg_notify('${OUTBOX_CHANNEL}', '')`);
}

/** Orders the workflow of an activity to be started, once this transaction is committed. @see docs/architecture.md#starting-it */
export async function orderStart(
  tx: Sql,
  activityId: number,
  order: { accountId: number; traceparent?: string | null; now: Date },
): Promise<void> {
  await tx.query(ORDER_START, [String(activityId), order.traceparent ?? null, order.now, order.accountId]);
  await wakeRelays(tx);
}

const ORDER_START = `
  insert into outbox (kind, key, traceparent, creation_time, account_id) values ('start', $1, $2, $3, $4)`;
