import { ACTIVITY_GROUP } from '../../../domain/activities/kinds.ts';
import { runEnvironment } from '../../../domain/scripts/environment.ts';
import { runSummary, scriptOperation } from '../../../domain/scripts/script.ts';
import { createGroup, insertEmptyRun } from '../../../persistence/activities/activity-creation.repository.ts';
import { lockFleetShared } from '../../../persistence/computers/targets.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { readAccountName } from '../../../persistence/identity/accounts.repository.ts';
import { computersInScope } from '../../../persistence/query/profile-scope.sql.ts';
import {
  computersWithOpenRun,
  insertProfileRun,
  setProfileRunActivity,
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

/**
 * On up to `maxComputers`, in `tx`, with script and profile locked. Recurring profiles skip computers with an open run.
 * @throws {DomainError} ScriptArchived @see docs/api-conventions.md#script-profile-fields
 */
export async function startProfileRun(
  tx: Sql,
  profile: ScriptProfileRow,
  order: RunRequest,
  deps: ProfileRunDeps,
): Promise<RunOutcome> {
  const runId = await insertProfileRun(tx, profile, order);
  if (runId === null) return 'known';
  await lockFleetShared(tx, profile.account_id);
  const inScope = await computersInScope(tx, 'script', profile.id);
  const busy = profile.trigger.type === 'recurring' ? await computersWithOpenRun(tx, profile.id) : new Set<number>();
  const computers = inScope.filter((id) => !busy.has(id)).slice(0, deps.limits.maxComputers);
  if (inScope.length > 0 && computers.length === 0) return 'busy';
  const activityId = await createRunActivity(tx, profile, computers, order, deps);
  await setProfileRunActivity(tx, runId, { activityId, computers: computers.length });
  return { activityId, computers: computers.length };
}

/** Runs a profile on accepted computers, ascending, in several runs if they exceed the limit of one. */
export async function startEnrolmentRuns(
  tx: Sql,
  profile: ScriptProfileRow,
  computers: readonly number[],
  { now, traceparent }: Omit<RunRequest, 'scheduledTime'>,
  deps: ProfileRunDeps,
): Promise<void> {
  const { maxComputers } = deps.limits;
  for (let from = 0; from < computers.length; from += maxComputers) {
    const part = computers.slice(from, from + maxComputers);
    const order = { scheduledTime: null, now, traceparent };
    const runId = await insertProfileRun(tx, profile, order);
    const activityId = await createRunActivity(tx, profile, part, order, deps);
    await setProfileRunActivity(tx, runId!, { activityId, computers: part.length });
  }
}

async function createRunActivity(
  tx: Sql,
  profile: ScriptProfileRow,
  computers: readonly number[],
  { now, traceparent = null }: RunRequest,
  { settings, publicUrl }: ProfileRunDeps,
): Promise<number> {
  const script = await lockRunnable(tx, profile.script_id);
  const { id, version } = script;
  const run = { username: profile.username, timeLimit: profile.time_limit };
  const activity = {
    accountId: profile.account_id,
    creatorId: profile.creator_id,
    type: ACTIVITY_GROUP,
    summary: runSummary(script),
    parameters: { operation: 'run-script', script_id: id, version, profile_id: profile.id, ...run },
    traceparent,
    now,
  };
  if (computers.length === 0) return insertEmptyRun(tx, activity);
  const accountName = await readAccountName(tx, profile.account_id);
  const env = runEnvironment({ accountName, creatorId: profile.creator_id, now }, publicUrl);
  const operations = [scriptOperation(script, { ...run, env })];
  return createGroup(tx, { ...activity, deliverAfter: null, windowMinutes: 0, computers, operations }, settings);
}
