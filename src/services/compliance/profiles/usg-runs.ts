import { UTC } from '../../../domain/common/time-zone.ts';
import { runSteps, runSummary, USG_ACTIVITY } from '../../../domain/compliance/run-steps.ts';
import { isAhead, lastDueDate, needsRefill } from '../../../domain/schedules/plan.ts';
import { type DesiredSchedule, type RunStart, scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { createGroup, insertEmptyRun } from '../../../persistence/activities/activity-creation.repository.ts';
import type { UsgProfile } from '../../../persistence/compliance/usg-profile.entity.ts';
import { lockUsgProfile, readUsgProfile } from '../../../persistence/compliance/usg-profiles.repository.ts';
import { missedUsgRuns, usgProfilesWithDates } from '../../../persistence/compliance/usg-profiles.sql.ts';
import { insertUsgRun, setRunActivity, withoutOpenRun } from '../../../persistence/compliance/usg-runs.sql.ts';
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
  recordMissedRun,
  reportStart,
} from '../../schedules/profile-run.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../../process/logger.ts';
import type { ProfileKind } from '../../schedules/profile-kind.ts';
import { planDates } from '../../schedules/recurring-dates.ts';

interface UsgRunDeps {
  files: FileStore;
  settings: ActivitySettings;
}

interface UsgKindDeps extends UsgRunDeps {
  db: Database;
  logger: Logger;
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
    extendSchedule: (profileId, now) => planFurtherDates(db, profileId, now),
    missedRuns: (dueBefore, profileId) => missedUsgRuns(db, dueBefore, { profileId, limit: MAX_MISSED_RUNS }),
    skipRun: (profileId, latest, now) => db.transaction((tx) => skipRun(tx, profileId, latest, now)),
    expectedSchedules: async (now) => {
      const profiles = await usgProfilesWithDates(db, now);
      return new Map(profiles.map((row) => [scheduleIdOf('usg', row.id), noteOf(row)]));
    },
  };
}

function desiredSchedule(profile: UsgProfile | null, now: Date, publicUrl: string): DesiredSchedule | null {
  if (!profile || profile.archived) return null;
  return {
    kind: 'usg',
    profileId: profile.id,
    accountId: profile.account.id,
    times: { kind: 'dates', dates: profile.plannedDates.filter((date) => date > now) },
    summary: runSummary(profile),
    note: `${noteOf(profile)}${publicUrl}/api/v2/usg-profiles/${profile.id}`,
  };
}

/** Contains everything the dates depend on. UTC is omitted, as in earlier releases. */
function noteOf({ mode, schedule, timezone }: Pick<UsgProfile, 'mode' | 'schedule' | 'timezone'>): string {
  const zone = timezone === UTC ? '' : ` in ${timezone}`;
  return `USG ${mode} by ${schedule}${zone}; further dates are added as these pass; `;
}

async function startRun(
  tx: Sql,
  deps: UsgKindDeps,
  { profileId, scheduledTime, now }: { profileId: number; scheduledTime: Date; now: Date },
): Promise<RunStart> {
  const profile = await lockUsgProfile(tx, profileId);
  if (!profile || profile.archived) return { outcome: 'archived' };
  if (isAhead(scheduledTime, now)) return { outcome: 'not-planned' };
  const planned = isPlanned(profile, scheduledTime);
  const edit = { editedAt: profile.modificationTime, scheduledTime, now };
  if (!planned && !(await isOperatorRun(tx, scheduleIdOf('usg', profileId), edit))) return { outcome: 'not-planned' };
  const latest = lastDueDate(profile.plannedDates, now);
  if (planned && latest !== null && latest > scheduledTime) return { outcome: 'superseded' };
  const run = await startUsgRun(tx, profile, { scheduledTime, now }, deps);
  return reportStart(tx, deps.logger, 'UsgProfile', { profile, scheduledTime, run });
}

function isPlanned({ plannedDates }: UsgProfile, time: Date): boolean {
  return plannedDates.some((date) => date.getTime() === time.getTime());
}

/** Skips computers with an open run; without any, the run has succeeded. @see docs/api-conventions.md#usg-schedule */
export async function startUsgRun(
  tx: Sql,
  profile: UsgProfile,
  request: RunRequest,
  deps: UsgRunDeps,
): Promise<RunOutcome> {
  const profileId = profile.id;
  const accountId = profile.account.id;
  const { scheduledTime, now } = request;
  const id = await insertUsgRun(tx, { accountId, profileId, scheduledTime, startedAt: now });
  if (id === null) return 'known';
  await lockFleetShared(tx, accountId);
  const inScope = await computersInScope(tx, 'usg', profileId);
  const computers = await withoutOpenRun(tx, profileId, inScope);
  if (inScope.length > 0 && computers.length === 0) return 'busy';
  const activityId = await createRunActivity(tx, { id, profile, computers }, request, deps);
  await setRunActivity(tx, { id, profileId, activityId }, computers);
  return { activityId, computers: computers.length };
}

async function createRunActivity(
  tx: Sql,
  { id, profile, computers }: { id: number; profile: UsgProfile; computers: readonly number[] },
  { now, traceparent = null, prior }: RunRequest,
  { settings, files }: UsgRunDeps,
): Promise<number> {
  const accountId = profile.account.id;
  const activity = {
    accountId,
    creatorId: profile.creatorId,
    type: USG_ACTIVITY,
    summary: runSummary(profile),
    parameters: { operation: 'usg-run', profile_id: profile.id, run_id: id },
    traceparent,
    now,
  };
  if (computers.length === 0) return insertEmptyRun(tx, activity);
  const { tailoringFileKey: key } = profile;
  const content = key === null ? null : await files.read(tx, accountId, key);
  const operations = runSteps(
    {
      title: profile.title,
      mode: profile.mode,
      benchmark: profile.benchmark,
      // The profile's own name may be too long for a file on the computer.
      tailoring: content === null ? null : { name: `usg-tailoring-${profile.id}.xml`, content },
      restartDelayHours: profile.restartDeliverDelay,
      restartWindowMinutes: profile.restartDeliverDelayWindow,
    },
    id,
  );
  const afterActivity = (await prior?.(computers)) ?? null;
  const plan = { ...activity, deliverAfter: null, windowMinutes: 0, computers, operations, afterActivity };
  return createGroup(tx, plan, settings);
}

async function skipRun(tx: Sql, profileId: number, latest: Date, now: Date): Promise<void> {
  const profile = await lockUsgProfile(tx, profileId);
  if (!profile || profile.archived || !isPlanned(profile, latest)) return;
  profile.plannedDates = profile.plannedDates.filter((date) => date > now);
  await recordMissedRun(tx, 'UsgProfile', profile, latest);
}

async function planFurtherDates(db: Database, profileId: number, now: Date): Promise<readonly Date[]> {
  const known = await readUsgProfile(db, profileId);
  if (!known || known.archived || !needsRefill(known.plannedDates, now)) return [];
  const dates = planDates(known, now);
  return db.transaction(async (tx) => {
    const profile = await lockUsgProfile(tx, profileId);
    if (!profile || profile.archived) return [];
    if (profile.schedule !== known.schedule || profile.timezone !== known.timezone) return [];
    if (profile.plannedDates.filter((date) => date > now).length === dates.length) return [];
    const due = lastDueDate(profile.plannedDates, now);
    profile.plannedDates = due === null ? dates : [due, ...dates];
    await enqueueScheduleSync(tx, scheduleIdOf('usg', profileId), now);
    return dates;
  });
}
