import { isByOperator } from '../../domain/schedules/plan.ts';
import type { RunStart } from '../../domain/schedules/profile-schedule.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { isScheduleSyncPending } from '../../persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../process/logger.ts';

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

export const MAX_MISSED_RUNS = 500;

const NAMES = { ScriptProfile: 'script profile', UsgProfile: 'USG profile' };

type ProfileType = keyof typeof NAMES;
type StoredProfile = { id: number; title: string; account: { id: number } };

/** Leaves an event for a date without a run. */
export function recordMissedRun(tx: Sql, type: ProfileType, profile: StoredProfile, date: Date): Promise<void> {
  const words = `Left out the run of the ${NAMES[type]} ${profile.title} that was due at ${date.toISOString()}`;
  return recordScheduleEvent(tx, type, profile, words);
}

/** The answer to a schedule that started a run. If all computers were busy, an event and a log line say so. */
export async function reportStart(
  tx: Sql,
  logger: Logger,
  type: ProfileType,
  { profile, scheduledTime, run }: { profile: StoredProfile; scheduledTime: Date; run: RunOutcome },
): Promise<RunStart> {
  if (run === 'known') return { outcome: 'known' };
  if (run !== 'busy') return { outcome: 'started', activity: run.activityId };
  const profileId = profile.id;
  logger.warn({ profileId, scheduledTime }, 'a scheduled run was skipped: every computer still has an open one');
  const words = `Skipped a scheduled run of the ${NAMES[type]} ${profile.title}: every computer still has an open run`;
  await recordScheduleEvent(tx, type, profile, words);
  return { outcome: 'busy' };
}

function recordScheduleEvent(
  tx: Sql,
  entityType: ProfileType,
  { id, title, account }: StoredProfile,
  message: string,
): Promise<void> {
  const actor = { accountId: account.id, personId: null, name: 'Schedule', origin: { address: '', requestId: '' } };
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
