import { isByOperator } from '../../domain/schedules/plan.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import { isScheduleSyncPending } from '../../persistence/schedules/schedule-syncs.sql.ts';

export interface RunRequest {
  /** The planned date, in whole seconds; null if a person or an event started the run. */
  scheduledTime: Date | null;
  now: Date;
  traceparent?: string | null;
  /** Finds the activity that must succeed on these computers first; absent or null for none. */
  prior?(computers: readonly number[]): Promise<number | null>;
}

/** `known`: the date already has a run. `busy`: every computer still has an open run; the date counts as used. */
export type RunOutcome = { activityId: number; computers: number } | 'known' | 'busy';

/** Maximum number of missed runs that the reconciler starts per kind and pass. */
export const MAX_MISSED_RUNS = 500;

/** Records an action of a profile's schedule in the event log. */
export function recordScheduleEvent(
  tx: Sql,
  entityType: 'ScriptProfile' | 'UsgProfile',
  { id, title, account_id: accountId }: { id: number; title: string; account_id: number },
  message: string,
): Promise<void> {
  const actor = { accountId, personId: null, name: 'Schedule', origin: { address: '', requestId: '' } };
  return recordEvent(tx, actor, { entityType, entityId: id, entityName: title, message });
}

/** Whether an operator started an unplanned run. False while the schedule may predate the last edit of its profile. */
export async function isOperatorRun(
  tx: Sql,
  scheduleId: string,
  { editedAt, scheduledTime, now }: { editedAt: Date; scheduledTime: Date; now: Date },
): Promise<boolean> {
  return isByOperator(editedAt, scheduledTime, now) && !(await isScheduleSyncPending(tx, scheduleId));
}
