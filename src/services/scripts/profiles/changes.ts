import { UTC } from '../../../domain/common/time-zone.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import type { Permission } from '../../../domain/identity/permissions.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { hasSameRuns } from '../../../domain/scripts/trigger.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { lockRights } from '../../../persistence/identity/rights.repository.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import {
  countActiveScriptProfiles,
  insertScriptProfile,
  type ScriptProfileChange,
  updateScriptProfile,
} from '../../../persistence/scripts/script-profiles.repository.ts';
import { readScriptProfile, type ScriptProfileRow } from '../../../persistence/scripts/script-profiles.sql.ts';
import { changedParts, ifGiven, readLine, readTimezone } from '../../common/fields.ts';
import type { Caller } from '../../common/ports.ts';
import { readTags } from '../../common/tag-fields.ts';
import { withTitleConflict } from '../../common/title-conflict.ts';
import { requireIn } from '../../identity/group-rights.ts';
import { readUsername } from '../fields.ts';
import { requireRight, requireScript } from '../reads.ts';
import { lockRunnable } from '../runs.ts';
import type {
  ScriptDatesPatch,
  ScriptDatesRequest,
  ScriptProfilePatch,
  ScriptProfileRequest,
  ScriptProfilesDeps,
} from './model.ts';
import { nextDates, requireProfile, toProfile } from './reads.ts';
import { enableTrigger, firstDue, lockForRun, readLatest } from './trigger-dates.ts';
import { readTrigger } from './trigger-fields.ts';

/** Required to manage profiles. @see docs/api-conventions.md#permission-of-each-operation */
const MANAGING: readonly Permission[] = ['ManageScriptProfile', 'ExecuteScript'];

/**
 * @throws {DomainError} InvalidParameter, IntervalTooShort, UnknownScript, ScriptArchived, ProfileLimitReached,
 * DuplicateScriptProfile, Forbidden when the caller may not manage profiles or run scripts in the group of the script
 */
export async function createProfile(deps: ScriptProfilesDeps, caller: Caller, request: ScriptProfileRequest) {
  const now = deps.clock.now();
  const fields = {
    title: readLine('body.title', request.title),
    tags: readTags('body.tags', request.tags),
    username: readUsername(request.username),
    ...readNewTrigger(deps, request, now),
    allComputers: request.allComputers,
    timeLimit: request.timeLimit,
    script: request.scriptId,
    account: caller.accountId,
    creatorId: caller.personId,
  };
  return withTitleConflict(deps.db, DUPLICATE, async (tx) => {
    // Keeps the number of profiles and the script's access group unchanged.
    await lockRights(tx, caller.accountId);
    const script = await requireScript(tx, caller, request.scriptId);
    for (const permission of MANAGING) requireRight(caller, script, permission);
    await lockRunnable(tx, request.scriptId);
    await requireRoom(tx, caller, deps.limits.maxProfiles);
    const id = await insertScriptProfile(tx, fields, now);
    const message = `Created the script profile ${fields.title}: ${script.title} as ${fields.username}`;
    await recordEvent(tx, caller, eventOf({ id, title: fields.title }, message));
    await enableTrigger(tx, (await readScriptProfile(tx, id))!, { now, traceparent: request.traceparent }, deps);
    return toProfile(tx, caller, (await readScriptProfile(tx, id))!, now);
  });
}

/** Up to `limit` dates that a profile would have if it were created now. @throws InvalidParameter, IntervalTooShort */
export function previewDates(deps: ScriptProfilesDeps, request: ScriptDatesRequest, limit: number) {
  const now = deps.clock.now();
  const profile = { ...readNewTrigger(deps, request, now), last_run: null, due_at: null, archived: false };
  const due_at = firstDue(profile, { now, latest: null, limits: deps.limits });
  return nextDates({ ...profile, due_at }, now, limit);
}

function readNewTrigger({ limits }: ScriptProfilesDeps, request: ScriptDatesRequest, now: Date) {
  const timezone = readTimezone('body.timezone', request.timezone ?? UTC);
  const at = { now, timezone, minIntervalMinutes: limits.minIntervalMinutes };
  return { timezone, trigger: readTrigger(request.trigger, null, at) };
}

/**
 * @throws UnknownScriptProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort, DuplicateScriptProfile
 */
export async function patchProfile(deps: ScriptProfilesDeps, caller: Caller, id: number, patch: ScriptProfilePatch) {
  const now = deps.clock.now();
  return withTitleConflict(deps.db, DUPLICATE, async (tx) => {
    const row = requireActive(await lockManageable(tx, caller, id));
    const change = readPatch(deps, row, patch, now);
    const parts = changedParts(change, PARTS);
    if (parts.length > 0) {
      await updateScriptProfile(tx, id, { ...change, lastEditedAt: now });
      const message = `Changed ${parts.join(', ')} of the script profile ${row.title}`;
      await recordEvent(tx, caller, eventOf({ id, title: change.title ?? row.title }, message));
      const start = { now, traceparent: patch.traceparent };
      if (change.trigger) await enableTrigger(tx, (await readScriptProfile(tx, id))!, start, deps);
      else await enqueueScheduleSync(tx, scheduleIdOf('script', id), now);
    }
    return toProfile(tx, caller, (await readScriptProfile(tx, id))!, now);
  });
}

/**
 * Up to `limit` dates that a profile would have if it were changed now.
 * @throws UnknownScriptProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort
 */
export async function previewChangedDates(
  deps: ScriptProfilesDeps,
  caller: Caller,
  id: number,
  { patch, limit }: { patch: ScriptDatesPatch; limit: number },
) {
  const now = deps.clock.now();
  const row = requireActive(await requireManageable(deps.db, caller, id));
  const { timezone = row.timezone, trigger, triggerNumber } = readPatch(deps, row, patch, now);
  if (!trigger) return nextDates({ ...row, timezone }, now, limit);
  const restarted = triggerNumber === undefined ? {} : { trigger_number: triggerNumber, last_run: null };
  const changed = { ...row, ...restarted, timezone, trigger };
  const latest = await readLatest(deps.db, changed);
  const due_at = firstDue(changed, { now, latest, limits: deps.limits });
  return nextDates({ ...changed, due_at }, now, limit);
}

/** Permanent and idempotent; an open run continues. @throws {DomainError} UnknownScriptProfile, Forbidden */
export async function archiveProfile(deps: ScriptProfilesDeps, caller: Caller, id: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const row = await lockManageable(tx, caller, id);
    if (row.archived) return;
    const now = deps.clock.now();
    await updateScriptProfile(tx, id, { archived: true, dueAt: null, lastEditedAt: now });
    await enqueueScheduleSync(tx, scheduleIdOf('script', id), now);
    await recordEvent(tx, caller, eventOf(row, `Archived the script profile ${row.title}`));
  });
}

function readPatch(
  { limits: { minIntervalMinutes } }: ScriptProfilesDeps,
  row: ScriptProfileRow,
  patch: Omit<ScriptProfilePatch, 'traceparent'>,
  now: Date,
): ScriptProfileChange {
  const change: ScriptProfileChange = {
    title: ifGiven(patch.title, (title) => readLine('body.title', title)),
    allComputers: patch.allComputers,
    tags: ifGiven(patch.tags, (tags) => readTags('body.tags', tags)),
    timeLimit: patch.timeLimit,
    username: ifGiven(patch.username, readUsername),
    timezone: ifGiven(patch.timezone, (timezone) => readTimezone('body.timezone', timezone)),
  };
  const { timezone = row.timezone } = change;
  if (patch.trigger !== undefined) {
    change.trigger = readTrigger(patch.trigger, row.trigger, { now, timezone, minIntervalMinutes });
    if (!hasSameRuns(row.trigger, change.trigger)) change.triggerNumber = row.trigger_number + 1;
  } else if (change.timezone !== undefined && row.trigger.type === 'recurring') {
    change.trigger = { ...row.trigger, timezone };
  }
  return change;
}

async function requireManageable(sql: Sql, caller: Caller, id: number): Promise<ScriptProfileRow> {
  const row = await requireProfile(sql, caller, id);
  requireIn(caller, MANAGING, row.access_group_id, 'the access group of the profile');
  return row;
}

async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<ScriptProfileRow> {
  await requireManageable(tx, caller, id);
  return (await lockForRun(tx, id))!;
}

function requireActive(row: ScriptProfileRow): ScriptProfileRow {
  if (row.archived) throw new DomainError('ProfileArchived', 'The script profile is archived');
  return row;
}

async function requireRoom(tx: Sql, { accountId }: Caller, maxProfiles: number): Promise<void> {
  if ((await countActiveScriptProfiles(tx, accountId)) < maxProfiles) return;
  throw new DomainError('ProfileLimitReached', `There are already ${maxProfiles} script profiles; archive one first`);
}

function eventOf({ id, title }: { id: number; title: string }, message: string) {
  return { entityType: 'ScriptProfile' as const, entityId: id, entityName: title, message };
}

const DUPLICATE = {
  index: 'script_profile_title',
  code: 'DuplicateScriptProfile',
  message: 'An active script profile with this title already exists',
} as const;

const PARTS = {
  title: 'the title',
  trigger: 'the trigger',
  allComputers: 'the choice of computers',
  tags: 'the tags',
  timeLimit: 'the time limit',
  username: 'the user name',
  timezone: 'the time zone',
};
