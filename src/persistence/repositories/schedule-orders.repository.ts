import type { Sql } from '../sql.ts';

/**
 * Orders the schedule of a profile on the Temporal server to be made equal to its row, once this transaction is
 * committed.
 *
 * @param scheduleId - `<kind>/<profile id>`
 * @see temporal-design 6
 */
export async function orderScheduleSync(tx: Sql, scheduleId: string, now: Date): Promise<void> {
  await tx.query(`insert into outbox (kind, key, creation_time) values ('schedule_sync', $1, $2)`, [scheduleId, now]);
  await tx.query(`select pg_notify('flotilla_outbox', '')`);
}
