import type { ActivitySettings } from '../../../process/config.ts';
import { runSteps, runSummary, USG_ACTIVITY } from '../../../domain/compliance/run-steps.ts';
import { createGroup } from '../../../persistence/activities/activity-creation.repository.ts';
import { insertEmptyRun } from '../../../persistence/activities/empty-runs.repository.ts';
import { keepFleet } from '../../../persistence/computers/fleet-lock.ts';
import { computersInScope } from '../../../persistence/query/profile-scope.ts';
import { insertRunAudits } from '../../../persistence/compliance/usg-audits.repository.ts';
import type { UsgProfileRow } from '../../../persistence/compliance/usg-profiles.repository.ts';
import { insertUsgRun, setRunActivity, withoutOpenRun } from '../../../persistence/compliance/usg-runs.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import type { FileStore } from '../../common/ports.ts';
import type { RunOrder, RunOutcome } from '../../schedules/profile-run.ts';

export interface RunDeps {
  settings: ActivitySettings;
  files: FileStore;
}

/**
 * Starts a run of a profile on the computers it applies to at this moment; those that still have an open run of it are
 * left out.
 *
 * @param profile - its row locked by the caller, so that runs of one profile are made one after the other
 * @remarks Part of the caller's transaction. A profile that applies to no computer gets an activity without operations
 * that has succeeded.
 * @see docs/api-conventions.md#usg-schedule
 */
export async function startUsgRun(
  tx: Sql,
  profile: UsgProfileRow,
  order: RunOrder,
  deps: RunDeps,
): Promise<RunOutcome> {
  const { nominalTime, now } = order;
  const run = { accountId: profile.account_id, profileId: profile.id, nominalTime, startedAt: now };
  const runId = await insertUsgRun(tx, run);
  if (runId === null) return 'known';
  await keepFleet(tx, profile.account_id);
  const inScope = await computersInScope(tx, 'usg', profile.id);
  const computers = await withoutOpenRun(tx, profile.id, inScope);
  if (inScope.length > 0 && computers.length === 0) return 'busy';
  const activityId = await createRunActivity(tx, { id: runId, profile, computers }, order, deps);
  await setRunActivity(tx, runId, activityId, computers.length);
  await insertRunAudits(tx, { id: runId, profileId: profile.id, activityId }, computers);
  return { activityId, computers: computers.length };
}

async function createRunActivity(
  tx: Sql,
  { id, profile, computers }: { id: number; profile: UsgProfileRow; computers: readonly number[] },
  { now, traceparent, prior }: RunOrder,
  { settings, files }: RunDeps,
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
      // A profile's own name may be longer than the name of a file on the computer can be.
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
