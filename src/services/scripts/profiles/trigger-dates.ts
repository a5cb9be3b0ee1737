import { MINUTE_MS } from '../../../domain/common/durations.ts';
import { isUtc } from '../../../domain/common/time-zone.ts';
import { needsRefill, PLANNED_DATES } from '../../../domain/schedules/plan.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { earliestAfter, nextZonedDates } from '../../../domain/schedules/zoned-dates.ts';
import { hasRunOnce, type Trigger } from '../../../domain/scripts/trigger.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import { lockScriptsOfProfiles, readPlannedRuns } from '../../../persistence/scripts/script-profile-runs.sql.ts';
import {
  lockScriptProfile,
  lockScriptProfiles,
  updateScriptProfile,
} from '../../../persistence/scripts/script-profiles.repository.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import type { ScriptProfileLimits } from '../../../process/config.ts';
import { firstDateAfter, nextCronDate, zonedCalendars } from '../../schedules/cron-dates.ts';
import { type ProfileRunDeps, startProfileRun } from './script-profile-runs.ts';

export type RecurringTrigger = Extract<Trigger, { type: 'recurring' }>;

/** Locks a profile for a run: first its script, then its row. Null if it does not exist. */
export async function lockForRun(tx: Sql, profileId: number): Promise<ScriptProfileRow | null> {
  await lockScriptsOfProfiles(tx, [profileId]);
  return lockScriptProfile(tx, profileId);
}

/** As {@link lockForRun}, several, which come by account and id; without those that do not exist. */
export async function lockForRuns(tx: Sql, profileIds: readonly number[]): Promise<ScriptProfileRow[]> {
  await lockScriptsOfProfiles(tx, profileIds);
  return lockScriptProfiles(tx, profileIds);
}

/** Also updates its schedule. A past time runs now. */
export async function enableTrigger(
  tx: Sql,
  profile: ScriptProfileRow,
  { now, traceparent }: { now: Date; traceparent: string | null },
  deps: ProfileRunDeps,
): Promise<void> {
  const { trigger } = profile;
  if (trigger.type === 'one_time' && trigger.timestamp <= now && !hasRunOnce(profile)) {
    await startProfileRun(tx, profile, { scheduledTime: trigger.timestamp, now, traceparent }, deps);
  }
  const dueAt = firstDue(profile, { now, latest: await readLatest(tx, profile), limits: deps.limits });
  const dates = trigger.type === 'recurring' ? singleDates(trigger, now) : null;
  await updateScriptProfile(tx, profile.id, { dueAt, plannedUntil: dates?.at(-1) ?? null });
  await enqueueScheduleSync(tx, scheduleIdOf('script', profile.id), now);
}

/** The latest date of a recurring trigger that has a run; null for none. */
export async function readLatest(sql: Sql, profile: ScriptProfileRow): Promise<Date | null> {
  if (profile.trigger.type !== 'recurring') return null;
  return (await readPlannedRuns(sql, [{ profile, scheduledTime: null }])).get(profile.id)!.latest;
}

/**
 * The first date of a trigger that is enabled now; null for none, and for a time that has come, which runs now. A due date
 * without a run survives other cron text.
 */
export function firstDue(
  profile: Pick<ScriptProfileRow, 'trigger' | 'last_run' | 'due_at'>,
  { now, latest, limits }: { now: Date; latest: Date | null; limits: ScriptProfileLimits },
): Date | null {
  const { trigger, due_at: previous } = profile;
  switch (trigger.type) {
    case 'event':
      return null;
    case 'one_time':
      return trigger.timestamp <= now || hasRunOnce(profile) ? null : trigger.timestamp;
    case 'recurring': {
      const stillDue = previous !== null && previous <= now && previous >= trigger.startAfter;
      return stillDue ? previous : nextDue(trigger, now, latest, limits.minIntervalMinutes);
    }
  }
}

/** The next dates in a zone with clock changes: calendars would omit skipped times and repeat others. Null in UTC. */
export function singleDates(trigger: RecurringTrigger, now: Date): Date[] | null {
  if (isUtc(trigger.timezone)) return null;
  return nextZonedDates(zonedCalendars(trigger), firstDateAfter(trigger.startAfter, now), PLANNED_DATES);
}

/** The last date of a schedule of single dates that is to be extended, because few are left; null otherwise. */
export function furtherDates({ trigger, planned_until: until }: ScriptProfileRow, now: Date): Date | null {
  const dates = (trigger.type === 'recurring' && singleDates(trigger, now)) || [];
  const planned = dates.filter((date) => until !== null && date <= until);
  return planned.length === dates.length || !needsRefill(planned, now) ? null : dates.at(-1)!;
}

/** A trigger's first date after `now`, at least `minIntervalMinutes` after the `latest` run; null for none. */
export function nextDue(trigger: RecurringTrigger, now: Date, latest: Date | null, minIntervalMinutes: number) {
  const allowed = latest && earliestAfter(trigger.timezone, latest, minIntervalMinutes * MINUTE_MS);
  const after = firstDateAfter(trigger.startAfter, now).getTime();
  return nextCronDate(trigger, new Date(Math.max(after, (allowed?.getTime() ?? 0) - 1)));
}
