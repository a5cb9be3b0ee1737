import { isCronProblem, parseCron } from '../domain/schedule/cron.ts';
import { cronCalendars } from '../domain/schedule/cron-calendars.ts';
import type { CalendarTimes } from '../domain/schedule/desired-schedule.ts';
import { scheduleIdOf } from '../domain/schedule/schedule-id.ts';
import { isUsedUp, type Trigger } from '../domain/scripts/trigger.ts';
import { orderScheduleSync } from '../persistence/repositories/schedule-orders.repository.ts';
import { keepScriptOf, readPlannedRuns, setDue } from '../persistence/repositories/script-profile-runs.repository.ts';
import { lockScriptProfile, type ScriptProfileRow } from '../persistence/repositories/script-profiles.repository.ts';
import type { Sql } from '../persistence/sql.ts';
import { nextCronDate } from './schedule/cron-dates.ts';
import { type ProfileRunDeps, startProfileRun } from './script-profile-runs.ts';

type RecurringTrigger = Extract<Trigger, { type: 'recurring' }>;

/** Locks a profile for a run of it: its script against changes, then its row. Null when there is none. */
export async function lockForRun(tx: Sql, profileId: number): Promise<ScriptProfileRow | null> {
  await keepScriptOf(tx, profileId);
  return lockScriptProfile(tx, profileId);
}

/**
 * Makes a profile wait for what its trigger says from now on, and its schedule follow: called in the transaction that
 * gave it the trigger. A time in the past runs at once.
 *
 * @param profile - as it is now, from {@link lockForRun} or just made
 * @remarks A date that is due already, with its run still to be made, stays due under another cron text.
 * @see api-decisions 6.2
 */
export async function armTrigger(
  tx: Sql,
  profile: ScriptProfileRow,
  { now, traceparent }: { now: Date; traceparent: string | null },
  deps: ProfileRunDeps,
): Promise<void> {
  const { trigger } = profile;
  let dueAt: Date | null = null;
  if (trigger.type === 'one_time' && !isUsedUp(profile)) {
    const order = { nominalTime: trigger.timestamp, now, traceparent };
    if (trigger.timestamp <= now) await startProfileRun(tx, profile, order, deps);
    else dueAt = trigger.timestamp;
  } else if (trigger.type === 'recurring') {
    const waited = profile.due_at;
    const { latest } = await readPlannedRuns(tx, { ...runsOf(profile), nominalTime: now });
    const stillDue = waited !== null && waited <= now && waited > trigger.startAfter;
    dueAt = stillDue ? waited : nextDue(trigger, now, latest, deps.limits.minIntervalMinutes);
  }
  await setDue(tx, profile.id, dueAt);
  await orderScheduleSync(tx, scheduleIdOf('script', profile.id), now);
}

/** Makes profiles that were put away wait for nothing, and their schedules go. */
export async function disarmTriggers(tx: Sql, profileIds: readonly number[], now: Date): Promise<void> {
  for (const id of profileIds) {
    await setDue(tx, id, null);
    await orderScheduleSync(tx, scheduleIdOf('script', id), now);
  }
}

/** What the runs of a profile's trigger are found by. */
export function runsOf(profile: Pick<ScriptProfileRow, 'id' | 'trigger_number'>) {
  return { profileId: profile.id, triggerNumber: profile.trigger_number };
}

/**
 * The first date after `now` that a recurring trigger may run at; null when there is none.
 *
 * @param latest - the date of the latest run; the next one is not closer than `minIntervalMinutes`
 */
export function nextDue(
  trigger: RecurringTrigger,
  now: Date,
  latest: Date | null,
  minIntervalMinutes: number,
): Date | null {
  const allowed = latest === null ? 0 : latest.getTime() + minIntervalMinutes * 60_000 - 1;
  return nextCronDate(trigger.interval, new Date(Math.max(now.getTime(), trigger.startAfter.getTime(), allowed)));
}

/** Calendars of stored cron text. @throws when it is none */
export function calendarsOf(interval: string): CalendarTimes[] {
  const cron = parseCron(interval);
  if (isCronProblem(cron)) throw new Error(`a stored cron text ${cron.problem}`);
  return cronCalendars(cron);
}
