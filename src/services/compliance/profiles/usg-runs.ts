import { UTC } from '../../../domain/common/time-zone.ts';
import { runOperations, runSummary, USG_ACTIVITY } from '../../../domain/compliance/run-operations.ts';
import { isAhead, lastDueDate, needsRefill } from '../../../domain/schedules/plan.ts';
import {
  type DesiredSchedule,
  type DueOutcome,
  type RunStart,
  scheduleIdOf,
} from '../../../domain/schedules/profile-schedule.ts';
import { createGroups, type GroupPlan } from '../../../persistence/activities/activity-creation.repository.ts';
import type { UsgProfile } from '../../../persistence/compliance/usg-profile.entity.ts';
import { lockUsgProfile, readUsgProfile } from '../../../persistence/compliance/usg-profiles.repository.ts';
import {
  type DueProfile,
  datesDueBefore,
  lockDueProfiles,
  type RunnableProfile,
  usgProfilesWithDates,
} from '../../../persistence/compliance/usg-profiles.sql.ts';
import { busyComputers, insertUsgRuns, setRunActivities } from '../../../persistence/compliance/usg-runs.sql.ts';
import { lockFleetShared } from '../../../persistence/computers/targets.sql.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import { computersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import type { ActivitySettings } from '../../../process/config.ts';
import type { FileStore } from '../../common/ports.ts';
import {
  isOperatorRun,
  MAX_DUE_DATES,
  type RunOutcome,
  type RunRequest,
  recordMissedRun,
  reportStarts,
} from '../../schedules/profile-run.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../../process/logger.ts';
import type { ProfileKind, RunDate } from '../../schedules/profile-kind.ts';
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
    startRun: async (profileId, scheduledTime, now) =>
      (await db.transaction((tx) => startRuns(tx, deps, [{ profileId, scheduledTime }], now)))[0]!,
    startRuns: (dates, now) => db.transaction((tx) => startRuns(tx, deps, dates, now)),
    extendSchedule: (profileId, now) => planFurtherDates(db, profileId, now),
    datesDueBefore: (dueBefore, of) => datesDueBefore(db, dueBefore, { ...of, limit: MAX_DUE_DATES }),
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

async function startRuns(tx: Sql, deps: UsgKindDeps, dates: readonly RunDate[], now: Date): Promise<RunStart[]> {
  const times = new Map(dates.map(({ profileId, scheduledTime }) => [profileId, scheduledTime]));
  const starts = new Map<number, RunStart>();
  const due: DueRun[] = [];
  const until = new Date(Math.max(now.getTime(), ...dates.map((date) => date.scheduledTime.getTime())));
  for (const profile of await lockDueProfiles(tx, [...times.keys()], until)) {
    const scheduledTime = times.get(profile.id)!;
    const outcome = await reasonNotToRun(tx, profile, scheduledTime, now);
    if (outcome === null) due.push({ profile, scheduledTime });
    else starts.set(profile.id, { outcome });
  }
  const outcomes = await startUsgRuns(tx, due, { now }, deps);
  const reports = await reportStarts(tx, deps.logger, 'UsgProfile', due, outcomes);
  return dates.map(({ profileId: id }) => starts.get(id) ?? reports.get(id) ?? { outcome: 'archived' });
}

async function reasonNotToRun(
  tx: Sql,
  profile: DueProfile,
  scheduledTime: Date,
  now: Date,
): Promise<DueOutcome | null> {
  if (profile.archived) return 'archived';
  if (isAhead(scheduledTime, now)) return 'not-planned';
  const edit = { editedAt: profile.modificationTime, scheduledTime, now };
  if (!isPlanned(profile, scheduledTime)) {
    return (await isOperatorRun(tx, scheduleIdOf('usg', profile.id), edit)) ? null : 'not-planned';
  }
  const latest = lastDueDate(profile.plannedDates, now);
  return latest !== null && latest > scheduledTime ? 'superseded' : null;
}

function isPlanned({ plannedDates }: Pick<UsgProfile, 'plannedDates'>, time: Date): boolean {
  return plannedDates.some((date) => date.getTime() === time.getTime());
}

interface DueRun<Time extends Date | null = Date> {
  profile: RunnableProfile;
  scheduledTime: Time;
}

/** As {@link startUsgRuns}, of one profile. */
export async function startUsgRun(
  tx: Sql,
  profile: UsgProfile,
  { scheduledTime, ...request }: RunRequest,
  deps: UsgRunDeps,
): Promise<RunOutcome> {
  return (await startUsgRuns(tx, [{ profile, scheduledTime }], request, deps))[0]!;
}

/**
 * Runs profiles, which come by account and id. Skips computers with an open run; without any, the run has succeeded.
 * @see docs/api-conventions.md#usg-schedule
 */
async function startUsgRuns(
  tx: Sql,
  due: ReadonlyArray<DueRun<Date | null>>,
  request: Omit<RunRequest, 'scheduledTime'>,
  deps: UsgRunDeps,
): Promise<RunOutcome[]> {
  const profiles = due.map(({ profile }) => profile);
  const accountIds = profiles.map(({ account }) => account.id);
  const profileIds = profiles.map(({ id }) => id);
  const scheduledTimes = due.map(({ scheduledTime }) => scheduledTime);
  const ids = await insertUsgRuns(tx, { accountIds, profileIds, scheduledTimes, now: request.now });
  if (ids.size === 0) return due.map(() => 'known');
  await lockFleetShared(tx, ...accountIds);
  const inScope = await computersInScope(tx, 'usg', [...ids.keys()]);
  const busy = await busyComputers(tx, [...ids.keys()]);
  const runs = profiles.flatMap((profile) => {
    const id = ids.get(profile.id);
    const all = inScope.get(profile.id) ?? [];
    const computers = all.filter((computer) => !busy.get(profile.id)!.has(computer));
    return id === undefined || (all.length > 0 && computers.length === 0) ? [] : [{ id, profile, computers }];
  });
  const activities = await createGroups(tx, plansOf(tx, runs, request, deps), deps.settings);
  const started = runs.map((run, n) => ({ ...run, profileId: run.profile.id, activityId: activities[n]! }));
  await setRunActivities(tx, started);
  const outcomes = new Map<number, RunOutcome>(
    started.map(({ profileId, activityId, computers }) => [profileId, { activityId, computers: computers.length }]),
  );
  return profileIds.map((id) => outcomes.get(id) ?? (ids.has(id) ? 'busy' : 'known'));
}

async function* plansOf(
  tx: Sql,
  runs: ReadonlyArray<{ id: number; profile: RunnableProfile; computers: readonly number[] }>,
  { now, traceparent = null, prior }: Omit<RunRequest, 'scheduledTime'>,
  { files }: UsgRunDeps,
): AsyncGenerator<GroupPlan> {
  for (const { id, profile, computers } of runs) {
    const accountId = profile.account.id;
    const { tailoringFileKey: key } = profile;
    const content = key === null || computers.length === 0 ? null : await files.read(tx, accountId, key);
    const operations = runOperations(
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
    yield {
      accountId,
      creatorId: profile.creatorId,
      type: USG_ACTIVITY,
      summary: runSummary(profile),
      parameters: { operation: 'usg-run', profile_id: profile.id, run_id: id },
      traceparent,
      now,
      deliverAfter: null,
      windowMinutes: 0,
      computers,
      operations: computers.length === 0 ? [] : operations,
      afterActivity: computers.length === 0 ? null : ((await prior?.(computers)) ?? null),
    };
  }
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
