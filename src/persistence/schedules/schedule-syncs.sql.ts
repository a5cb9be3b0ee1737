import { OutboxCommand } from '../activities/outbox.entity.ts';
import { wakeDispatchers } from '../activities/outbox.sql.ts';
import { TRANSACTION_LOCKS } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/** Requests a sync of schedules `<kind>/<profile id>` to their rows. @see docs/architecture.md#schedules-of-profiles */
export async function enqueueScheduleSync(tx: Sql, scheduleId: string | readonly string[], now: Date): Promise<void> {
  await tx.query(
    `insert into outbox (kind, key, creation_time) select 'schedule_sync', id, :now from unnest(:scheduleIds::text[]) id`,
    { scheduleIds: [scheduleId].flat(), now },
  );
  await wakeDispatchers(tx);
}

/** As {@link enqueueScheduleSync}, for many schedules in one statement; skips those with a pending command. */
export async function enqueueScheduleSyncs(tx: Sql, scheduleIds: readonly string[], now: Date): Promise<void> {
  await tx.query(
    `insert into outbox (kind, key, creation_time) select 'schedule_sync', s.id, :now from unnest(:scheduleIds::text[]) s(id)
     where not exists (select from outbox o where o.kind = 'schedule_sync' and o.key = s.id)`,
    { scheduleIds, now },
  );
  await wakeDispatchers(tx);
}

/** Whether the schedule on the server may be outdated. */
export async function isScheduleSyncPending(tx: Sql, scheduleId: string): Promise<boolean> {
  return (await tx.em.count(OutboxCommand, { kind: 'schedule_sync', key: scheduleId })) > 0;
}

export interface ScheduleSync {
  id: number;
  key: string;
}

/** Locks commands until the transaction ends; skips locked ones and those of `but`. */
export async function claimScheduleSyncs(tx: Sql, but: readonly number[], limit: number): Promise<ScheduleSync[]> {
  return tx.query<ScheduleSync>(CLAIM, { but, limit });
}

/** Idempotent. */
export async function deleteScheduleSyncs(tx: Sql, ids: readonly number[]): Promise<void> {
  await tx.query('delete from outbox where id = any(:ids::bigint[])', { ids });
}

/** Serializes the syncs of these schedules until the transaction ends, so that the last one reads the latest rows. */
export async function lockSchedules(tx: Sql, scheduleIds: readonly string[]): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(:schedules, hashtext(id)) from unnest(:scheduleIds::text[]) id', {
    schedules: TRANSACTION_LOCKS.schedules,
    scheduleIds: [...scheduleIds].sort(),
  });
}

const CLAIM = `
  select id, key from outbox where kind = 'schedule_sync' and id <> all(:but::bigint[])
  order by id limit :limit for update skip locked`;
