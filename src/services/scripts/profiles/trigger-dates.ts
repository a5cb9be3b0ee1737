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

/** Also updates its schedule. A past time runs now; a due date without a run survives other cron text. */
export async function enableTrigger(
  tx: Sql,
  profile: ScriptProfileRow,
  { now, traceparent }: { now: Date; traceparent: string | null },
  deps: ProfileRunDeps,
): Promise<void> {
  const { trigger } = profile;
  let dueAt: Date | null = null;
  if (trigger.type === 'one_time' && !hasRunOnce(profile)) {
    const start = { scheduledTime: trigger.timestamp, now, traceparent };
    if (trigger.timestamp <= now) await startProfileRun(tx, profile, start, deps);
    else dueAt = trigger.timestamp;
  } else if (trigger.type === 'recurring') {
    const previous = profile.due_at;
    const { latest } = (await readPlannedRuns(tx, [{ profile, scheduledTime: null }])).get(profile.id)!;
    const stillDue = previous !== null && previous <= now && previous >= trigger.startAfter;
    dueAt = stillDue ? previous : nextDue(trigger, now, latest, deps.limits.minIntervalMinutes);
  }
  const dates = trigger.type === 'recurring' ? singleDates(trigger, now) : null;
  await updateScriptProfile(tx, profile.id, { dueAt, plannedUntil: dates?.at(-1) ?? null });
  await enqueueScheduleSync(tx, scheduleIdOf('script', profile.id), now);
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
