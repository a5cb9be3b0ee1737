import { isByOperator } from '../../domain/schedules/plan.ts';
import type { RunStart } from '../../domain/schedules/profile-schedule.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { recordEvents } from '../../persistence/events/events.sql.ts';
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

export const MAX_DUE_DATES = 500;

const NAMES = { ScriptProfile: 'script profile', UsgProfile: 'USG profile' };

type ProfileType = keyof typeof NAMES;
type StoredProfile = { id: number; title: string; account: { id: number } };

/** Leaves an event for a date without a run. */
export function recordMissedRun(tx: Sql, type: ProfileType, profile: StoredProfile, date: Date): Promise<void> {
  const dueAt = `that was due at ${date.toISOString()}`;
  return recordEventsOf(tx, type, [profile], (name) => `Left out the run of the ${name} ${dueAt}`);
}

/** Outcomes for the schedules of the runs, by profile. If all computers were busy, an event and a log line record it. */
export async function reportStarts(
  tx: Sql,
  logger: Logger,
  type: ProfileType,
  due: ReadonlyArray<{ profile: StoredProfile; scheduledTime: Date }>,
  outcomes: readonly RunOutcome[],
): Promise<Map<number, RunStart>> {
  const busy = due.filter((_, n) => outcomes[n] === 'busy');
  for (const { profile, scheduledTime } of busy) {
    const about = { profileId: profile.id, scheduledTime };
    logger.warn(about, 'a scheduled run was skipped: every computer still has an open one');
  }
  const profiles = busy.map(({ profile }) => profile);
  const text = (name: string) => `Skipped a scheduled run of the ${name}: every computer still has an open run`;
  await recordEventsOf(tx, type, profiles, text);
  const startOf = (run: RunOutcome): RunStart =>
    typeof run === 'string' ? { outcome: run } : { outcome: 'started', activity: run.activityId };
  return new Map(due.map(({ profile }, n) => [profile.id, startOf(outcomes[n]!)]));
}

async function recordEventsOf(
  tx: Sql,
  entityType: ProfileType,
  profiles: readonly StoredProfile[],
  text: (name: string) => string,
): Promise<void> {
  for (const [accountId, own] of Map.groupBy(profiles, ({ account }) => account.id)) {
    const actor = { accountId, personId: null, name: 'Schedule', origin: { address: '', requestId: '' } };
    const events = own.map(({ id, title }) => {
      return { entityType, entityId: id, entityName: title, message: text(`${NAMES[entityType]} ${title}`) };
    });
    await recordEvents(tx, actor, events);
  }
}

/** Whether an operator started an unplanned run. False while the schedule may predate the last edit of its profile. */
export async function isOperatorRun(
  tx: Sql,
  scheduleId: string,
  { editedAt, scheduledTime, now }: { editedAt: Date; scheduledTime: Date; now: Date },
): Promise<boolean> {
  return isByOperator(editedAt, scheduledTime, now) && !(await isScheduleSyncPending(tx, scheduleId));
}
