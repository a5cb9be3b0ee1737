import { isByOperator } from '../../domain/schedules/plan.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { isScheduleSyncPending } from '../../persistence/schedules/schedule-syncs.repository.ts';

export interface RunRequest {
  /** The date it was planned for, in whole seconds; null: a person or an event started it. */
  scheduledTime: Date | null;
  now: Date;
  traceparent?: string | null;
  /** Finds the activity that has to succeed on these computers first; absent or null: none. */
  prior?(computers: readonly number[]): Promise<number | null>;
}

/** `known`: that date has a run already. `busy`: every computer still has an open run; the date counts as used. */
export type RunOutcome = { activityId: number; computers: number } | 'known' | 'busy';

/** Missed runs of a kind that one pass of the reconciler starts, at most. */
export const MAX_MISSED_RUNS = 500;

/** Records in the event log what the schedule of a profile did. */
export function recordScheduleEvent(
  tx: Sql,
  entityType: 'ScriptProfile' | 'UsgProfile',
  { id, title, account_id: accountId }: { id: number; title: string; account_id: number },
  message: string,
): Promise<void> {
  const actor = { accountId, personId: null, name: 'Schedule', origin: { address: '', requestId: '' } };
  return recordEvent(tx, actor, { entityType, entityId: id, entityName: title, message });
}

/**
 * Whether an operator started a run at a time that is not planned. False while the schedule may be older than the last
 * edit of its profile.
 * @param run.editedAt - last edit of the profile
 */
export async function isOperatorRun(
  tx: Sql,
  scheduleId: string,
  { editedAt, scheduledTime, now }: { editedAt: Date; scheduledTime: Date; now: Date },
): Promise<boolean> {
  return isByOperator(editedAt, scheduledTime, now) && !(await isScheduleSyncPending(tx, scheduleId));
}
