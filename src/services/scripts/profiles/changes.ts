import { DomainError } from '../../../domain/common/errors.ts';
import type { Permission } from '../../../domain/identity/permissions.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { hasSameRuns } from '../../../domain/scripts/trigger.ts';
import { UTC } from '../../../domain/common/time-zone.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import { lockRights } from '../../../persistence/identity/rights.repository.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import {
  archiveScriptProfile,
  countActiveScriptProfiles,
  insertScriptProfile,
  readScriptProfile,
  type ScriptProfileChange,
  type ScriptProfileRow,
  updateScriptProfile,
} from '../../../persistence/scripts/script-profiles.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { isUniqueViolation } from '../../../persistence/database/errors.ts';
import { readTags } from '../../common/tag-fields.ts';
import { readLine, readTimezone } from '../../common/fields.ts';
import { requireIn } from '../../identity/group-rights.ts';
import type { Caller } from '../../common/ports.ts';
import { enableTrigger, disableTriggers, lockForRun } from './trigger-dates.ts';
import { readUsername } from '../fields.ts';
import { requireRight, requireScript } from '../reads.ts';
import { lockRunnable } from '../runs.ts';
import type { ScriptProfile, ScriptProfilePatch, ScriptProfileRequest, ScriptProfilesDeps } from './model.ts';
import { requireProfile, toProfile } from './reads.ts';
import { readTrigger } from './trigger-fields.ts';

/** Required to manage profiles. @see docs/api-conventions.md#permission-of-each-operation */
const MANAGING: readonly Permission[] = ['ManageScriptProfile', 'ExecuteScript'];

export async function createProfile(
  deps: ScriptProfilesDeps,
  caller: Caller,
  request: ScriptProfileRequest,
): Promise<ScriptProfile> {
  const now = deps.clock.now();
  const timezone = readTimezone('body.timezone', request.timezone ?? UTC);
  const fields = {
    title: readLine('body.title', request.title),
    tags: readTags('body.tags', request.tags),
    username: readUsername(request.username),
    timezone,
    trigger: readTrigger(request.trigger, null, { now, timezone, minIntervalMinutes: deps.limits.minIntervalMinutes }),
    all_computers: request.allComputers,
    time_limit: request.timeLimit,
    script_id: request.scriptId,
  };
  return withTitleConflict(deps, async (tx) => {
    // Keeps the number of profiles and the script's access group unchanged.
    await lockRights(tx, caller.accountId);
    const script = await requireScript(tx, caller, request.scriptId);
    for (const permission of MANAGING) requireRight(caller, script, permission);
    await lockRunnable(tx, request.scriptId);
    await requireRoom(tx, caller, deps.limits.maxProfiles);
    const id = await insertScriptProfile(tx, {
      ...fields,
      account_id: caller.accountId,
      creator_id: caller.personId,
      now,
    });
    const message = `Created the script profile ${fields.title}: ${script.title} as ${fields.username}`;
    await recordEvent(tx, caller, eventOf({ id, title: fields.title }, message));
    await enableTrigger(tx, (await readScriptProfile(tx, id))!, { now, traceparent: request.traceparent }, deps);
    return toProfile(tx, caller, (await readScriptProfile(tx, id))!, now);
  });
}

export async function patchProfile(
  deps: ScriptProfilesDeps,
  caller: Caller,
  id: number,
  patch: ScriptProfilePatch,
): Promise<ScriptProfile> {
  const now = deps.clock.now();
  return withTitleConflict(deps, async (tx) => {
    const row = await lockManageable(tx, caller, id);
    if (row.archived) throw new DomainError('ProfileArchived', 'The script profile is archived');
    const change = readPatch(deps, row, patch, now);
    const parts = PARTS.flatMap(([name, words]) => (change[name] === undefined ? [] : [words]));
    if (parts.length > 0) {
      await updateScriptProfile(tx, id, change, now);
      const message = `Changed ${parts.join(', ')} of the script profile ${row.title}`;
      await recordEvent(tx, caller, eventOf({ id, title: change.title ?? row.title }, message));
      const order = { now, traceparent: patch.traceparent };
      if (change.trigger) await enableTrigger(tx, (await readScriptProfile(tx, id))!, order, deps);
      else await enqueueScheduleSync(tx, scheduleIdOf('script', id), now);
    }
    return toProfile(tx, caller, (await readScriptProfile(tx, id))!, now);
  });
}

export async function archiveProfile(deps: ScriptProfilesDeps, caller: Caller, id: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const row = await lockManageable(tx, caller, id);
    if (row.archived) return;
    const now = deps.clock.now();
    await archiveScriptProfile(tx, id, now);
    await disableTriggers(tx, [id], now);
    await recordEvent(tx, caller, eventOf(row, `Archived the script profile ${row.title}`));
  });
}

function readPatch(
  { limits }: ScriptProfilesDeps,
  row: ScriptProfileRow,
  patch: ScriptProfilePatch,
  now: Date,
): ScriptProfileChange {
  const change: ScriptProfileChange = {};
  if (patch.title !== undefined) change.title = readLine('body.title', patch.title);
  if (patch.allComputers !== undefined) change.all_computers = patch.allComputers;
  if (patch.tags !== undefined) change.tags = readTags('body.tags', patch.tags);
  if (patch.timeLimit !== undefined) change.time_limit = patch.timeLimit;
  if (patch.username !== undefined) change.username = readUsername(patch.username);
  if (patch.timezone !== undefined) change.timezone = readTimezone('body.timezone', patch.timezone);
  const { timezone = row.timezone } = change;
  if (patch.trigger !== undefined) {
    const at = { now, timezone, minIntervalMinutes: limits.minIntervalMinutes };
    change.trigger = readTrigger(patch.trigger, row.trigger, at);
    if (!hasSameRuns(row.trigger, change.trigger)) change.trigger_number = row.trigger_number + 1;
  } else if (change.timezone !== undefined && row.trigger.type === 'recurring') {
    change.trigger = { ...row.trigger, timezone };
  }
  return change;
}

/** @throws {DomainError} UnknownScriptProfile, Forbidden */
async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<ScriptProfileRow> {
  const row = await requireProfile(tx, caller, id);
  requireIn(caller, MANAGING, row.access_group_id, 'the access group of the profile');
  return (await lockForRun(tx, id))!;
}

async function requireRoom(tx: Sql, { accountId }: Caller, maxProfiles: number): Promise<void> {
  if ((await countActiveScriptProfiles(tx, accountId)) < maxProfiles) return;
  throw new DomainError('ProfileLimitReached', `There are already ${maxProfiles} script profiles; archive one first`);
}

async function withTitleConflict<T>({ db }: ScriptProfilesDeps, work: (tx: Sql) => Promise<T>): Promise<T> {
  try {
    return await db.transaction(work);
  } catch (error) {
    if (!isUniqueViolation(error, 'script_profile_title')) throw error;
    throw new DomainError('DuplicateScriptProfile', 'An active script profile with this title already exists');
  }
}

function eventOf({ id, title }: { id: number; title: string }, message: string) {
  return { entityType: 'ScriptProfile' as const, entityId: id, entityName: title, message };
}

const PARTS: ReadonlyArray<readonly [keyof ScriptProfileChange, string]> = [
  ['title', 'the title'],
  ['trigger', 'the trigger'],
  ['all_computers', 'the choice of computers'],
  ['tags', 'the tags'],
  ['time_limit', 'the time limit'],
  ['username', 'the user name'],
  ['timezone', 'the time zone'],
];
