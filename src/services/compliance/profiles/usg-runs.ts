import { runSteps, runSummary, USG_ACTIVITY } from '../../../domain/compliance/run-steps.ts';
import { createGroup } from '../../../persistence/activities/activity-creation.repository.ts';
import { insertEmptyRun } from '../../../persistence/activities/empty-runs.repository.ts';
import { insertRunAudits } from '../../../persistence/compliance/usg-audits.repository.ts';
import {
  lockUsgProfile,
  missedUsgRuns,
  readUsgProfile,
  setPlannedDates,
  type UsgProfileRow,
  usgProfilesWithDates,
} from '../../../persistence/compliance/usg-profiles.repository.ts';
import { insertUsgRun, setRunActivity, withoutOpenRun } from '../../../persistence/compliance/usg-runs.repository.ts';
import { lockFleetShared } from '../../../persistence/computers/targets.sql.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { computersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import type { ActivitySettings } from '../../../process/config.ts';
import type { FileStore } from '../../common/ports.ts';
import {
  isOperatorRun,
  MAX_MISSED_RUNS,
  type RunOutcome,
  type RunRequest,
  recordScheduleEvent,
} from '../../schedules/profile-run.ts';
import { UTC } from '../../../domain/common/time-zone.ts';
import { isAhead, lastDueDate, needsRefill } from '../../../domain/schedules/plan.ts';
import { type DesiredSchedule, type RunStart, scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../../process/logger.ts';
import type { ProfileKind } from '../../schedules/profile-kind.ts';
import { planDates } from '../../schedules/recurring-dates.ts';

export interface UsgRunDeps {
  files: FileStore;
  settings: ActivitySettings;
}

export interface UsgKindDeps extends UsgRunDeps {
  db: Database;
  logger: Logger;
  /** Base of the link in the note of a schedule. */
  publicUrl: string;
}

/** USG profiles run at single dates of a recurrence rule; more are planned as these pass. */
export function createUsgKind(deps: UsgKindDeps): ProfileKind {
  const { db } = deps;
  return {
    name: 'usg',
    desiredSchedule: async (sql, profileId, now) =>
      desiredSchedule(await readUsgProfile(sql, profileId), now, deps.publicUrl),
    startRun: (profileId, scheduledTime, now) =>
      db.transaction((tx) => startRun(tx, deps, { profileId, scheduledTime, now })),
    extendSchedule: (profileId, now) => planFurtherDates(deps, profileId, now),
    missedRuns: (dueBefore, profileId) => missedUsgRuns(db, dueBefore, { profileId, limit: MAX_MISSED_RUNS }),
    skipRun: (profileId, latest, now) => db.transaction((tx) => skipRun(tx, { profileId, latest, now })),
    expectedSchedules: async (now) => {
      const profiles = await usgProfilesWithDates(db, now);
      return new Map(profiles.map((row) => [scheduleIdOf('usg', row.id), noteOf(row)]));
    },
  };
}

function desiredSchedule(row: UsgProfileRow | null, now: Date, publicUrl: string): DesiredSchedule | null {
  if (!row || row.archived) return null;
  return {
    kind: 'usg',
    profileId: row.id,
    accountId: row.account_id,
    times: { kind: 'dates', dates: row.planned_dates.filter((date) => date > now) },
    summary: runSummary(row),
    note: `${noteOf(row)}${publicUrl}/api/v2/usg-profiles/${row.id}`,
  };
}

/** Contains everything the dates depend on. UTC is omitted, as in earlier releases. */
function noteOf({ mode, schedule, timezone }: Pick<UsgProfileRow, 'mode' | 'schedule' | 'timezone'>): string {
  const zone = timezone === UTC ? '' : ` in ${timezone}`;
  return `USG ${mode} by ${schedule}${zone}; further dates are added as these pass; `;
}

async function startRun(
  tx: Sql,
  deps: UsgKindDeps,
  { profileId, scheduledTime, now }: { profileId: number; scheduledTime: Date; now: Date },
): Promise<RunStart> {
  const row = await lockUsgProfile(tx, profileId);
  if (!row || row.archived) return { outcome: 'archived' };
  if (isAhead(scheduledTime, now)) return { outcome: 'not-planned' };
  const planned = row.planned_dates.some((date) => date.getTime() === scheduledTime.getTime());
  const edit = { editedAt: row.modification_time, scheduledTime, now };
  if (!planned && !(await isOperatorRun(tx, scheduleIdOf('usg', profileId), edit))) return { outcome: 'not-planned' };
  const latest = lastDueDate(row.planned_dates, now);
  if (planned && latest !== null && latest > scheduledTime) return { outcome: 'superseded' };
  const run = await startUsgRun(tx, row, { scheduledTime, now }, deps);
  if (run === 'known') return { outcome: 'known' };
  if (run !== 'busy') return { outcome: 'started', activity: run.activityId };
  deps.logger.warn({ profileId, scheduledTime }, 'a scheduled run was skipped: every computer still has an open one');
  const message = `Skipped a scheduled run of the USG profile ${row.title}: every computer still has an open run`;
  await recordScheduleEvent(tx, 'UsgProfile', row, message);
  return { outcome: 'busy' };
}

/**
 * Starts a run on the computers a profile applies to, except those with an open run of it. Without computers, the
 * activity has no operations and has succeeded.
 * @param profile - with its row locked, so that runs of one profile are created one after the other
 * @remarks Part of the caller's transaction.
 * @see docs/api-conventions.md#usg-schedule
 */
export async function startUsgRun(
  tx: Sql,
  profile: UsgProfileRow,
  request: RunRequest,
  deps: UsgRunDeps,
): Promise<RunOutcome> {
  const { scheduledTime, now } = request;
  const run = { accountId: profile.account_id, profileId: profile.id, scheduledTime, startedAt: now };
  const runId = await insertUsgRun(tx, run);
  if (runId === null) return 'known';
  await lockFleetShared(tx, profile.account_id);
  const inScope = await computersInScope(tx, 'usg', profile.id);
  const computers = await withoutOpenRun(tx, profile.id, inScope);
  if (inScope.length > 0 && computers.length === 0) return 'busy';
  const activityId = await createRunActivity(tx, { id: runId, profile, computers }, request, deps);
  await setRunActivity(tx, runId, activityId, computers.length);
  await insertRunAudits(tx, { id: runId, profileId: profile.id, activityId }, computers);
  return { activityId, computers: computers.length };
}

async function createRunActivity(
  tx: Sql,
  { id, profile, computers }: { id: number; profile: UsgProfileRow; computers: readonly number[] },
  { now, traceparent, prior }: RunRequest,
  { settings, files }: UsgRunDeps,
): Promise<number> {
  const activity = {
    accountId: profile.account_id,
    creatorId: profile.creator_id,
    type: USG_ACTIVITY,
    summary: runSummary(profile),
    now,
  };
  const parameters = { operation: 'usg-run', profile_id: profile.id, run_id: id };
  if (computers.length === 0) return insertEmptyRun(tx, { ...activity, parameters, traceparent: traceparent ?? null });
  const key = profile.tailoring_file_key;
  const content = key === null ? null : await files.read(tx, profile.account_id, key);
  const operations = runSteps(
    {
      title: profile.title,
      mode: profile.mode,
      benchmark: profile.benchmark,
      // The profile's own name may be too long for a file on the computer.
      tailoring: content === null ? null : { name: `usg-tailoring-${profile.id}.xml`, content },
      restartDelayHours: profile.restart_deliver_delay,
      restartWindowMinutes: profile.restart_deliver_delay_window,
    },
    id,
  );
  const afterActivity = (await prior?.(computers)) ?? null;
  const plan = { ...activity, deliverAfter: null, windowMinutes: 0, computers, operations, parameters, traceparent };
  return createGroup(tx, { ...plan, afterActivity }, settings);
}

async function skipRun(
  tx: Sql,
  { profileId, latest, now }: { profileId: number; latest: Date; now: Date },
): Promise<void> {
  const row = await lockUsgProfile(tx, profileId);
  if (!row || row.archived || !row.planned_dates.some((date) => date.getTime() === latest.getTime())) return;
  await setPlannedDates(
    tx,
    profileId,
    row.planned_dates.filter((date) => date > now),
  );
  const message = `Left out the run of the USG profile ${row.title} that was due at ${latest.toISOString()}`;
  await recordScheduleEvent(tx, 'UsgProfile', row, message);
}

async function planFurtherDates({ db }: UsgKindDeps, profileId: number, now: Date): Promise<readonly Date[]> {
  const known = await readUsgProfile(db, profileId);
  if (!known || known.archived || !needsRefill(known.planned_dates, now)) return [];
  const dates = planDates(known, now);
  return db.transaction(async (tx) => {
    const row = await lockUsgProfile(tx, profileId);
    if (!row || row.archived || row.schedule !== known.schedule || row.timezone !== known.timezone) return [];
    const ahead = row.planned_dates.filter((date) => date > now);
    if (ahead.length === dates.length) return [];
    const due = lastDueDate(row.planned_dates, now);
    await setPlannedDates(tx, profileId, due === null ? dates : [due, ...dates]);
    await enqueueScheduleSync(tx, scheduleIdOf('usg', profileId), now);
    return dates;
  });
}
