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
  type PlannedRuns,
  readPlannedRuns,
  type WaitingProfile,
  waitingScriptProfiles,
} from '../../../persistence/scripts/script-profile-runs.sql.ts';
import { updateScriptProfile } from '../../../persistence/scripts/script-profiles.repository.ts';
import {
  type DueDate,
  readScriptProfile,
  type ScriptProfileRow,
  setDueDates,
} from '../../../persistence/scripts/script-profiles.sql.ts';
import type { Logger } from '../../../process/logger.ts';
import { zonedCalendars } from '../../schedules/cron-dates.ts';
import type { ProfileKind, RunDate, RunDatesOf } from '../../schedules/profile-kind.ts';
import { isOperatorRun, MAX_DUE_DATES, recordMissedRun, reportStarts } from '../../schedules/profile-run.ts';
import { type ProfileRunDeps, startProfileRuns } from './script-profile-runs.ts';
import { furtherDates, lockForRun, lockForRuns, nextDue, type RecurringTrigger, singleDates } from './trigger-dates.ts';

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
    startRun: async (profileId, scheduledTime, now) =>
      (await db.transaction((tx) => startRuns(tx, deps, [{ profileId, scheduledTime }], now)))[0]!,
    startRuns: (dates, now) => db.transaction((tx) => startRuns(tx, deps, dates, now)),
    extendSchedule: async () => [],
    datesDueBefore: (dueBefore, of) => datesDueBefore(db, dueBefore, of),
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

interface DueRun {
  profile: ScriptProfileRow;
  scheduledTime: Date;
}

interface Due {
  profileId: number;
  scheduledTime: Date;
  now: Date;
}

async function startRuns(tx: Sql, deps: ScriptKindDeps, dates: readonly RunDate[], now: Date): Promise<RunStart[]> {
  const times = new Map(dates.map(({ profileId, scheduledTime }) => [profileId, scheduledTime]));
  const starts = new Map<number, RunStart>();
  const due: DueRun[] = [];
  const moved: DueDate[] = [];
  const synced: string[] = [];
  const { minIntervalMinutes } = deps.limits;
  const profiles = await lockForRuns(tx, [...times.keys()]);
  const runs = profiles.map((profile) => ({ profile, scheduledTime: times.get(profile.id)! }));
  const planned = await readPlannedRuns(tx, runs);
  for (const run of runs) {
    const { profile, scheduledTime } = run;
    const before = planned.get(profile.id)!;
    const outcome = await reasonNotToRun(tx, run, before, now, minIntervalMinutes);
    if (outcome === null) due.push(run);
    else starts.set(profile.id, { outcome });
    // Older releases kept the date of a profile after an operator's run.
    const isKept = outcome === 'known' && hasRunOnce(profile) && profile.due_at !== null;
    if (outcome !== null && outcome !== 'too-soon' && !isKept) continue;
    const { id, trigger } = profile;
    const latest = outcome === null ? scheduledTime : before.latest;
    const isAgain = trigger.type === 'recurring';
    const plannedUntil = furtherDates(profile, now);
    moved.push({
      id,
      dueAt: isAgain ? nextDue(trigger, scheduledTime, latest, minIntervalMinutes) : null,
      plannedUntil,
    });
    if (!isAgain || plannedUntil !== null) synced.push(scheduleIdOf('script', id));
  }
  const outcomes = await startProfileRuns(tx, due, { now }, deps);
  await setDueDates(tx, moved);
  if (synced.length > 0) await enqueueScheduleSync(tx, synced, now);
  const stored = due.map(({ profile, scheduledTime }) => ({ profile: storedOf(profile), scheduledTime }));
  const reports = await reportStarts(tx, deps.logger, 'ScriptProfile', stored, outcomes);
  return dates.map(({ profileId: id }) => starts.get(id) ?? reports.get(id) ?? { outcome: 'archived' });
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

async function reasonNotToRun(
  tx: Sql,
  { profile, scheduledTime }: DueRun,
  { latest, known }: PlannedRuns,
  now: Date,
  minIntervalMinutes: number,
): Promise<DueOutcome | null> {
  const { trigger } = profile;
  if (profile.archived) return 'archived';
  if (hasRunOnce(profile) || known) return 'known';
  const edit = { editedAt: profile.last_edited_at, scheduledTime, now };
  const isByOperator =
    !isDueDate(profile, scheduledTime) && (await isOperatorRun(tx, scheduleIdOf('script', profile.id), edit));
  const reason = reasonByDate(profile, { scheduledTime, now, isByOperator });
  if (reason !== null || trigger.type !== 'recurring' || latest === null) return reason;
  const earliest = earliestAfter(trigger.timezone, latest, minIntervalMinutes * MINUTE_MS);
  return scheduledTime < earliest ? 'too-soon' : null;
}

function reasonByDate(
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

async function datesDueBefore(sql: Sql, dueBefore: Date, of?: RunDatesOf): Promise<RunDate[]> {
  const profiles = await profilesDueBefore(sql, dueBefore, { ...of, limit: MAX_DUE_DATES });
  return profiles.map(({ id, due_at, cron, timezone }) => ({
    profileId: id,
    scheduledTime: (cron && lastZonedDate(zonedCalendars({ interval: cron, timezone }), due_at, dueBefore)) || due_at,
  }));
}
