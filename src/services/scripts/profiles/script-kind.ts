import { MINUTE_MS } from '../../../domain/common/durations.ts';
import { isAhead } from '../../../domain/schedules/plan.ts';
import {
  type DesiredSchedule,
  type DueOutcome,
  type RunStart,
  type ScheduleTimes,
  scheduleIdOf,
} from '../../../domain/schedules/profile-schedule.ts';
import { earliestAfter, lastZonedDate } from '../../../domain/schedules/zoned-dates.ts';
import { hasRunOnce } from '../../../domain/scripts/trigger.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import {
  profilesDueBefore,
  readPlannedRuns,
  type WaitingProfile,
  waitingScriptProfiles,
} from '../../../persistence/scripts/script-profile-runs.sql.ts';
import { updateScriptProfile } from '../../../persistence/scripts/script-profiles.repository.ts';
import { readScriptProfile, type ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import type { Logger } from '../../../process/logger.ts';
import { zonedCalendars } from '../../schedules/cron-dates.ts';
import type { MissedRun, ProfileKind } from '../../schedules/profile-kind.ts';
import { isOperatorRun, MAX_MISSED_RUNS, recordMissedRun, reportStart } from '../../schedules/profile-run.ts';
import { type ProfileRunDeps, startProfileRun } from './script-profile-runs.ts';
import { extendPlannedDates, lockForRun, nextDue, type RecurringTrigger, singleDates } from './trigger-dates.ts';

interface ScriptKindDeps extends ProfileRunDeps {
  db: Database;
  logger: Logger;
}

/** Script profiles have one date, calendars of cron text in UTC, or the next dates of cron text in another zone. */
export function createScriptKind(deps: ScriptKindDeps): ProfileKind {
  const { db } = deps;
  return {
    name: 'script',
    desiredSchedule: (sql, profileId, now) => desiredSchedule(sql, profileId, now, deps.publicUrl),
    startRun: (profileId, scheduledTime, now) =>
      db.transaction((tx) => startRun(tx, deps, { profileId, scheduledTime, now })),
    extendSchedule: async () => [],
    missedRuns: (dueBefore, profileId) => missedRuns(db, dueBefore, profileId),
    skipRun: (profileId, latest, now) =>
      db.transaction((tx) => skipRun(tx, { profileId, scheduledTime: latest, now }, deps.limits.minIntervalMinutes)),
    expectedSchedules: async (now) => {
      const profiles = await waitingScriptProfiles(db, now);
      return new Map(profiles.map((row) => [scheduleIdOf('script', row.id), noteOf(row)]));
    },
  };
}

async function desiredSchedule(
  sql: Sql,
  profileId: number,
  now: Date,
  publicUrl: string,
): Promise<DesiredSchedule | null> {
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
  scheduledTime: Date;
  now: Date;
}

async function startRun(tx: Sql, deps: ScriptKindDeps, { profileId, scheduledTime, now }: Due): Promise<RunStart> {
  const profile = await lockForRun(tx, profileId);
  if (!profile || profile.archived) return { outcome: 'archived' };
  if (hasRunOnce(profile)) {
    // Older releases kept the date of a profile after an operator's run.
    if (profile.due_at !== null) await clearDue(tx, profileId, now);
    return { outcome: 'known' };
  }
  const runs = await readPlannedRuns(tx, profile, scheduledTime);
  if (runs.known) return { outcome: 'known' };
  const run = { editedAt: profile.last_edited_at, scheduledTime, now };
  const isByOperator =
    !isDueDate(profile, scheduledTime) && (await isOperatorRun(tx, scheduleIdOf('script', profileId), run));
  const reason = reasonNotToRun(profile, { scheduledTime, now, isByOperator });
  if (reason !== null) return { outcome: reason };
  const { trigger } = profile;
  const { minIntervalMinutes } = deps.limits;
  const earliest =
    runs.latest && trigger.type === 'recurring'
      ? earliestAfter(trigger.timezone, runs.latest, minIntervalMinutes * MINUTE_MS)
      : null;
  const isTooSoon = earliest !== null && scheduledTime < earliest;
  const outcome = isTooSoon ? null : await startProfileRun(tx, profile, { scheduledTime, now }, deps);
  if (trigger.type === 'recurring') {
    const latest = isTooSoon ? runs.latest : scheduledTime;
    await updateScriptProfile(tx, profileId, { dueAt: nextDue(trigger, scheduledTime, latest, minIntervalMinutes) });
    await extendPlannedDates(tx, profile, now);
  } else {
    await clearDue(tx, profileId, now);
  }
  if (outcome === null) return { outcome: 'too-soon' };
  return reportStart(tx, deps.logger, 'ScriptProfile', { profile: storedOf(profile), scheduledTime, run: outcome });
}

async function skipRun(tx: Sql, due: Due, minIntervalMinutes: number): Promise<void> {
  const { profileId, scheduledTime, now } = due;
  const profile = await lockForRun(tx, profileId);
  if (!profile || profile.archived || profile.due_at === null || profile.due_at > now) return;
  const { trigger } = profile;
  const dueAt = trigger.type === 'recurring' ? nextDue(trigger, now, null, minIntervalMinutes) : null;
  await updateScriptProfile(tx, profileId, { dueAt });
  await enqueueScheduleSync(tx, scheduleIdOf('script', profileId), now);
  await recordMissedRun(tx, 'ScriptProfile', storedOf(profile), scheduledTime);
}

function isDueDate({ due_at: due }: ScriptProfileRow, scheduledTime: Date): boolean {
  return due?.getTime() === scheduledTime.getTime();
}

function reasonNotToRun(
  profile: ScriptProfileRow,
  { scheduledTime, now, isByOperator }: Omit<Due, 'profileId'> & { isByOperator: boolean },
): DueOutcome | null {
  const { trigger, due_at: due } = profile;
  const isDue = isDueDate(profile, scheduledTime);
  if (isAhead(scheduledTime, now) || trigger.type === 'event') return 'not-planned';
  if (trigger.type === 'one_time') return isDue || isByOperator ? null : 'not-planned';
  if (!isDue && !isDate(trigger, scheduledTime)) return isByOperator ? null : 'not-planned';
  if (!isDue && scheduledTime < trigger.startAfter) return 'not-planned';
  // Dates before the next due one are done.
  if (due === null || scheduledTime < due) return 'superseded';
  return lastZonedDate(zonedCalendars(trigger), scheduledTime, now) === null ? null : 'superseded';
}

function isDate(trigger: RecurringTrigger, time: Date): boolean {
  return lastZonedDate(zonedCalendars(trigger), new Date(time.getTime() - 1), time) !== null;
}

function storedOf({ id, title, account_id }: ScriptProfileRow) {
  return { id, title, account: { id: account_id } };
}

async function clearDue(tx: Sql, profileId: number, now: Date): Promise<void> {
  await updateScriptProfile(tx, profileId, { dueAt: null });
  await enqueueScheduleSync(tx, scheduleIdOf('script', profileId), now);
}

async function missedRuns(sql: Sql, dueBefore: Date, profileId?: number): Promise<MissedRun[]> {
  const profiles = await profilesDueBefore(sql, dueBefore, { profileId, limit: MAX_MISSED_RUNS });
  return profiles.map(({ id, due_at, cron, timezone }) => ({
    profileId: id,
    scheduledTime: (cron && lastZonedDate(zonedCalendars({ interval: cron, timezone }), due_at, dueBefore)) || due_at,
  }));
}
