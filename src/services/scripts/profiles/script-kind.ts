import { MINUTE_MS } from '../../../domain/common/durations.ts';
import type { DesiredSchedule, ScheduleTimes } from '../../../domain/schedules/desired-schedule.ts';
import type { DueOutcome } from '../../../domain/schedules/due-outcome.ts';
import { isAhead } from '../../../domain/schedules/plan.ts';
import { scheduleIdOf } from '../../../domain/schedules/schedule-id.ts';
import { earliestAfter, lastZonedDate } from '../../../domain/schedules/zoned-dates.ts';
import { isUsedUp } from '../../../domain/scripts/trigger.ts';
import type { Logger } from '../../../process/logger.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import { orderScheduleSync } from '../../../persistence/schedules/schedule-orders.repository.ts';
import {
  overdueProfiles,
  readPlannedRuns,
  setDue,
  type WaitingProfile,
  waitingScriptProfiles,
} from '../../../persistence/scripts/script-profile-runs.repository.ts';
import { readScriptProfile, type ScriptProfileRow } from '../../../persistence/scripts/script-profiles.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import {
  lockForRun,
  nextDue,
  planFurther,
  type RecurringTrigger,
  runsOf,
  singleDates,
} from './script-profile-arming.ts';
import { type ProfileRunDeps, startProfileRun } from './script-profile-runs.ts';
import { zonedCalendars } from '../../schedules/cron-dates.ts';
import { isOperatorsRun } from '../../schedules/operator-runs.ts';
import type { MissedDate, ProfileKind } from '../../schedules/profile-kind.ts';
import { MISSED_LIMIT, scheduleActor } from '../../schedules/profile-run.ts';

export interface ScriptKindDeps extends ProfileRunDeps {
  db: Database;
  logger: Logger;
}

/** Script profiles: one date, the calendars of cron text in UTC, or its next dates in another time zone. */
export function createScriptKind(deps: ScriptKindDeps): ProfileKind {
  const { db } = deps;
  return {
    name: 'script',
    desired: (sql, profileId, now) => desired(sql, profileId, now, deps.publicUrl),
    startDue: (profileId, nominalTime, now) =>
      db.transaction((tx) => startDue(tx, deps, { profileId, nominalTime, now })),
    refill: async () => {},
    missed: (dueBefore, profileId) => missed(db, dueBefore, profileId),
    passOver: (profileId, latest, now) =>
      db.transaction((tx) => passOver(tx, { profileId, nominalTime: latest, now }, deps.limits.minIntervalMinutes)),
    expected: async (now) => {
      const profiles = await waitingScriptProfiles(db, now);
      return new Map(profiles.map((row) => [scheduleIdOf('script', row.id), noteOf(row)]));
    },
  };
}

async function desired(sql: Sql, profileId: number, now: Date, publicUrl: string): Promise<DesiredSchedule | null> {
  const profile = await readScriptProfile(sql, profileId);
  if (profile === null || profile.archived || profile.due_at === null) return null;
  return {
    kind: 'script',
    profileId,
    accountId: profile.account_id,
    times: timesOf(profile, profile.due_at, now),
    summary: `Script profile: ${profile.title}`,
    note: `${noteOf(waitingOf(profile, profile.due_at))}${publicUrl}/api/v2/script-profiles/${profileId}`,
  };
}

function waitingOf({ id, trigger }: ScriptProfileRow, due: Date): WaitingProfile {
  return trigger.type === 'recurring'
    ? { id, due_at: due, cron: trigger.interval, start_after: trigger.startAfter, timezone: trigger.timezone }
    : { id, due_at: due, cron: null, start_after: null };
}

/** Names all that the dates go by. */
function noteOf(profile: WaitingProfile): string {
  if (profile.cron === null) return `Script once at ${profile.due_at.toISOString()}; `;
  const { cron, timezone, start_after: startAfter } = profile;
  return `Script by cron "${cron}" in ${timezone}, after ${startAfter.toISOString()}; `;
}

function timesOf({ trigger }: ScriptProfileRow, due: Date, now: Date): ScheduleTimes {
  if (trigger.type !== 'recurring') return { kind: 'dates', dates: due > now ? [due] : [] };
  const dates = singleDates(trigger, now);
  if (dates !== null) return { kind: 'dates', dates };
  return { kind: 'calendars', calendars: zonedCalendars(trigger).calendars, startAt: trigger.startAfter };
}

interface Due {
  profileId: number;
  nominalTime: Date;
  now: Date;
}

async function startDue(tx: Sql, deps: ScriptKindDeps, { profileId, nominalTime, now }: Due): Promise<DueOutcome> {
  const profile = await lockForRun(tx, profileId);
  if (!profile || profile.archived) return 'archived';
  if (isUsedUp(profile)) {
    // Releases before this one let a profile wait for its time after an operator's run.
    if (profile.due_at !== null) await waitForNothing(tx, profileId, now);
    return 'known';
  }
  const runs = await readPlannedRuns(tx, { ...runsOf(profile), nominalTime });
  if (runs.known) return 'known';
  const run = { editedAt: profile.last_edited_at, nominalTime, now };
  const isAsked =
    !isWaitedFor(profile, nominalTime) && (await isOperatorsRun(tx, scheduleIdOf('script', profileId), run));
  const refusal = judge(profile, { nominalTime, now, isAsked });
  if (refusal !== null) return refusal;
  const { minIntervalMinutes } = deps.limits;
  if (
    profile.trigger.type === 'recurring' &&
    isTooSoon(profile.trigger, nominalTime, runs.latest, minIntervalMinutes)
  ) {
    await setDue(tx, profileId, nextDue(profile.trigger, nominalTime, runs.latest, minIntervalMinutes));
    await planFurther(tx, profile, now);
    return 'too-soon';
  }
  const outcome = await startProfileRun(tx, profile, { nominalTime, now }, deps);
  await waitForNext(tx, profile, { profileId, nominalTime, now }, minIntervalMinutes);
  if (outcome !== 'busy') return outcome === 'known' ? 'known' : 'started';
  deps.logger.warn({ profileId, nominalTime }, 'a scheduled run was skipped: every computer still has an open one');
  const message = `Skipped a scheduled run of the script profile ${profile.title}: every computer still has an open run`;
  await recordSkip(tx, profile, message);
  return 'busy';
}

function recordSkip(tx: Sql, profile: ScriptProfileRow, message: string): Promise<void> {
  return recordEvent(tx, scheduleActor(profile.account_id), {
    entityType: 'ScriptProfile',
    entityId: profile.id,
    entityName: profile.title,
    message,
  });
}

async function passOver(tx: Sql, due: Due, minIntervalMinutes: number): Promise<void> {
  const { profileId, nominalTime, now } = due;
  const profile = await lockForRun(tx, profileId);
  if (!profile || profile.archived || profile.due_at === null || profile.due_at > now) return;
  const { trigger } = profile;
  await setDue(tx, profileId, trigger.type === 'recurring' ? nextDue(trigger, now, null, minIntervalMinutes) : null);
  await orderScheduleSync(tx, scheduleIdOf('script', profileId), now);
  const message = `Left out the run of the script profile ${profile.title} that was due at ${nominalTime.toISOString()}`;
  await recordSkip(tx, profile, message);
}

function isWaitedFor({ due_at: due }: ScriptProfileRow, nominalTime: Date): boolean {
  return due?.getTime() === nominalTime.getTime();
}

/**
 * Why a date makes no run; null: it does.
 *
 * @param given.isAsked - an operator wants it, whether or not it is a date
 */
function judge(
  profile: ScriptProfileRow,
  { nominalTime, now, isAsked }: Omit<Due, 'profileId'> & { isAsked: boolean },
): DueOutcome | null {
  const { trigger, due_at: due } = profile;
  const isDue = isWaitedFor(profile, nominalTime);
  if (isAhead(nominalTime, now) || trigger.type === 'event') return 'not-planned';
  if (trigger.type === 'one_time') return isDue || isAsked ? null : 'not-planned';
  if (!isDue && !isDate(trigger, nominalTime)) return isAsked ? null : 'not-planned';
  if (!isDue && nominalTime < trigger.startAfter) return 'not-planned';
  // Dates before the one it waits for were dealt with.
  if (due === null || nominalTime < due) return 'superseded';
  return lastZonedDate(zonedCalendars(trigger), nominalTime, now) === null ? null : 'superseded';
}

function isDate(trigger: RecurringTrigger, time: Date): boolean {
  return lastZonedDate(zonedCalendars(trigger), new Date(time.getTime() - 1), time) !== null;
}

function isTooSoon(
  { timezone }: RecurringTrigger,
  nominalTime: Date,
  latest: Date | null,
  minIntervalMinutes: number,
): boolean {
  return latest !== null && nominalTime < earliestAfter(timezone, latest, minIntervalMinutes * MINUTE_MS);
}

async function waitForNext(tx: Sql, profile: ScriptProfileRow, due: Due, minIntervalMinutes: number): Promise<void> {
  const { profileId, nominalTime, now } = due;
  const { trigger } = profile;
  if (trigger.type === 'recurring') {
    await setDue(tx, profileId, nextDue(trigger, nominalTime, nominalTime, minIntervalMinutes));
    await planFurther(tx, profile, now);
  } else if (trigger.type === 'one_time') {
    await waitForNothing(tx, profileId, now);
  }
}

async function waitForNothing(tx: Sql, profileId: number, now: Date): Promise<void> {
  await setDue(tx, profileId, null);
  await orderScheduleSync(tx, scheduleIdOf('script', profileId), now);
}

async function missed(sql: Sql, dueBefore: Date, profileId?: number): Promise<MissedDate[]> {
  const overdue = await overdueProfiles(sql, dueBefore, { profileId, limit: MISSED_LIMIT });
  return overdue.map(({ id, due_at, cron, timezone }) => ({
    profileId: id,
    nominalTime: (cron && lastZonedDate(zonedCalendars({ interval: cron, timezone }), due_at, dueBefore)) || due_at,
  }));
}
