import { ACTIVITY_GROUP } from '../../../domain/activities/kinds.ts';
import { runEnvironment } from '../../../domain/scripts/environment.ts';
import { type RunnableScript, runSummary, scriptOperation } from '../../../domain/scripts/script.ts';
import { createGroups, type GroupPlan } from '../../../persistence/activities/activity-creation.repository.ts';
import { lockFleetShared } from '../../../persistence/computers/targets.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { readAccountName } from '../../../persistence/identity/accounts.repository.ts';
import { computersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import {
  busyScriptComputers,
  insertProfileRuns,
  type NewProfileRun,
  setProfileRunActivities,
} from '../../../persistence/scripts/script-profile-runs.sql.ts';
import type { ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import type { ActivitySettings, ScriptProfileLimits } from '../../../process/config.ts';
import type { RunOutcome, RunRequest } from '../../schedules/profile-run.ts';
import { lockRunnable } from '../runs.ts';

export interface ProfileRunDeps {
  settings: ActivitySettings;
  limits: ScriptProfileLimits;
  publicUrl: string;
}

/** As {@link startProfileRuns}, of one profile. */
export async function startProfileRun(
  tx: Sql,
  profile: ScriptProfileRow,
  { scheduledTime, ...request }: RunRequest,
  deps: ProfileRunDeps,
): Promise<RunOutcome> {
  return (await startProfileRuns(tx, [{ profile, scheduledTime }], request, deps))[0]!;
}

type Request = Omit<RunRequest, 'scheduledTime' | 'prior'>;

/**
 * Each on up to `maxComputers`, in `tx`, with scripts and profiles locked, which come by account. Recurring profiles
 * skip computers with an open run. @throws {DomainError} ScriptArchived
 * @see docs/api-conventions.md#script-profile-fields
 */
export async function startProfileRuns(
  tx: Sql,
  due: readonly NewProfileRun[],
  request: Request,
  deps: ProfileRunDeps,
): Promise<RunOutcome[]> {
  const ids = await insertProfileRuns(tx, due, request.now);
  if (ids.size === 0) return due.map(() => 'known');
  await lockFleetShared(tx, ...due.map(({ profile }) => profile.account_id));
  const inScope = await computersInScope(tx, 'script', [...ids.keys()]);
  const busy = await busyScriptComputers(tx, [...ids.keys()]);
  const runs = due.flatMap(({ profile }): ProfileRun[] => {
    const id = ids.get(profile.id);
    const all = inScope.get(profile.id) ?? [];
    const free = profile.trigger.type === 'recurring' ? all.filter((one) => !busy.get(profile.id)?.has(one)) : all;
    if (id === undefined || (all.length > 0 && free.length === 0)) return [];
    return [{ id, profile, computers: free.slice(0, deps.limits.maxComputers) }];
  });
  const activities = await createActivities(tx, runs, request, deps);
  const started = new Map(
    runs.map(({ profile, computers }, n) => [profile.id, { activityId: activities[n]!, computers: computers.length }]),
  );
  return due.map(({ profile: { id } }) => started.get(id) ?? (ids.has(id) ? 'busy' : 'known'));
}

interface ProfileRun {
  id: number;
  profile: ScriptProfileRow;
  computers: readonly number[];
}

/** Runs a profile on accepted computers, ascending, in several runs if they exceed the limit of one. */
export async function startEnrolmentRuns(
  tx: Sql,
  profile: ScriptProfileRow,
  computers: readonly number[],
  request: Request,
  deps: ProfileRunDeps,
): Promise<void> {
  const { maxComputers } = deps.limits;
  for (let from = 0; from < computers.length; from += maxComputers) {
    const ids = await insertProfileRuns(tx, [{ profile, scheduledTime: null }], request.now);
    const part = computers.slice(from, from + maxComputers);
    await createActivities(tx, [{ id: ids.get(profile.id)!, profile, computers: part }], request, deps);
  }
}

async function createActivities(
  tx: Sql,
  runs: readonly ProfileRun[],
  request: Request,
  deps: ProfileRunDeps,
): Promise<number[]> {
  const activities = await createGroups(tx, plansOf(tx, runs, request, deps), deps.settings);
  const started = runs.map((run, n) => ({ ...run, activityId: activities[n]! }));
  await setProfileRunActivities(tx, started);
  return activities;
}

async function* plansOf(
  tx: Sql,
  runs: readonly ProfileRun[],
  { now, traceparent = null }: Request,
  { publicUrl }: ProfileRunDeps,
): AsyncGenerator<GroupPlan> {
  const scripts = new Map<number, RunnableScript>();
  for (const { profile, computers } of runs) {
    const { account_id: accountId, creator_id: creatorId, script_id: scriptId } = profile;
    const script = scripts.get(scriptId) ?? (await lockRunnable(tx, scriptId));
    scripts.set(scriptId, script);
    const run = { username: profile.username, timeLimit: profile.time_limit };
    const env = runEnvironment({ accountName: await readAccountName(tx, accountId), creatorId, now }, publicUrl);
    yield {
      accountId,
      creatorId,
      type: ACTIVITY_GROUP,
      summary: runSummary(script),
      parameters: {
        operation: 'run-script',
        script_id: scriptId,
        version: script.version,
        profile_id: profile.id,
        ...run,
      },
      traceparent,
      now,
      deliverAfter: null,
      windowMinutes: 0,
      computers,
      operations: computers.length === 0 ? [] : [scriptOperation(script, { ...run, env })],
    };
  }
}
