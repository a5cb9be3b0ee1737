import { DomainError } from '../../../domain/common/errors.ts';
import { lastDueDate } from '../../../domain/schedules/plan.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { readBaseActivity } from '../../../persistence/activities/activities.sql.ts';
import type { UsgProfile } from '../../../persistence/compliance/usg-profile.entity.ts';
import { lockUsgProfile } from '../../../persistence/compliance/usg-profiles.repository.ts';
import type { UsgProfileRow } from '../../../persistence/compliance/usg-profiles.sql.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import { type BaseActivity, toBaseActivity } from '../../activities/displayed-activities.ts';
import { requirePrior } from '../../activities/prior-activity.ts';
import { changedParts, fieldError, ifGiven, readLine, readTimezone } from '../../common/fields.ts';
import type { Caller } from '../../common/ports.ts';
import { readTags } from '../../common/tag-fields.ts';
import { holdsIn } from '../../identity/group-rights.ts';
import { planDates, planRequested } from '../../schedules/recurring-dates.ts';
import type { UsgDatesPatch, UsgProfilePatch, UsgProfilesDeps, UsgProfileView } from './model.ts';
import { readAsEditor, requireVisible } from './reads.ts';
import { startUsgRun } from './usg-runs.ts';

/** @throws {DomainError} UnknownUsgProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort */
export async function patchProfile(deps: UsgProfilesDeps, caller: Caller, id: number, patch: UsgProfilePatch) {
  const now = deps.clock.now();
  const known = await requireChangeable(deps.db, caller, id);
  const change = readPatch(known, patch, now);
  return deps.db.transaction(async (tx) => {
    const profile = requireActive(await lockManageable(tx, caller, id));
    const parts = changedParts(change, PARTS);
    if (parts.length > 0) {
      const { title } = profile;
      const plannedDates = change.plannedDates && keepDue(profile, change.plannedDates, now);
      tx.em.assign(profile, { ...change, plannedDates, modificationTime: now }, { ignoreUndefined: true });
      await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
      const message = `Changed ${parts.join(', ')} of the USG profile ${title}`;
      await recordEvent(tx, caller, eventOf(profile, message));
    }
    return readAsEditor(tx, caller, id, now);
  });
}

/**
 * Up to `limit` dates that a profile would have if it were changed now.
 * @throws {DomainError} UnknownUsgProfile, Forbidden, ProfileArchived, InvalidParameter, IntervalTooShort
 */
export async function previewChangedDates(
  { db, clock }: UsgProfilesDeps,
  caller: Caller,
  id: number,
  { patch, limit }: { patch: UsgDatesPatch; limit: number },
) {
  const now = clock.now();
  const profile = await requireChangeable(db, caller, id);
  const { plannedDates = profile.planned_dates, timezone = profile.timezone } = readPatch(profile, patch, now);
  return { timezone, dates: plannedDates.filter((date) => date > now).slice(0, limit) };
}

/** Permanent and idempotent; an open run continues. @throws {DomainError} UnknownUsgProfile, Forbidden */
export async function archiveProfile(deps: UsgProfilesDeps, caller: Caller, id: number): Promise<UsgProfileView> {
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const profile = await lockManageable(tx, caller, id);
    if (!profile.archived) {
      tx.em.assign(profile, { archived: true, plannedDates: [], modificationTime: now });
      await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
      await recordEvent(tx, caller, eventOf(profile, `Archived the USG profile ${profile.title}`));
    }
    return readAsEditor(tx, caller, id, now);
  });
}

/** @throws {DomainError} UnknownUsgProfile, Forbidden, ProfileArchived; ActivityInProgress if all computers are busy */
export async function executeProfile(
  deps: UsgProfilesDeps,
  caller: Caller,
  id: number,
  { after, traceparent }: { after: number | null; traceparent: string | null },
): Promise<BaseActivity> {
  const now = deps.clock.now();
  const row = await deps.db.transaction(async (tx) => {
    const profile = requireActive(await lockManageable(tx, caller, id));
    const prior = (computers: readonly number[]) => requirePrior(tx, caller, after, computers, now);
    const outcome = await startUsgRun(tx, profile, { scheduledTime: null, now, traceparent, prior }, deps);
    if (typeof outcome === 'string') {
      throw new DomainError('ActivityInProgress', 'Every computer of the profile still has an open run of it');
    }
    await recordEvent(tx, caller, eventOf(profile, `Started a run of the USG profile ${profile.title}`));
    return readBaseActivity(tx, outcome.activityId, now);
  });
  return toBaseActivity(row, now);
}

function readPatch(profile: UsgProfileRow, patch: UsgProfilePatch, now: Date) {
  const change = {
    title: ifGiven(patch.title, (title) => readLine('body.title', title)),
    allComputers: patch.allComputers,
    tags: ifGiven(patch.tags, (tags) => readTags('body.tags', tags)),
    restartDeliverDelay: patch.restartDelayHours,
    restartDeliverDelayWindow: patch.restartWindowMinutes,
    schedule: patch.schedule,
    timezone: ifGiven(patch.timezone, (timezone) => readTimezone('body.timezone', timezone)),
  };
  return { ...change, plannedDates: planPatched(profile, change, now) };
}

function planPatched(
  profile: UsgProfileRow,
  { schedule, timezone }: Pick<UsgProfilePatch, 'schedule' | 'timezone'>,
  now: Date,
): Date[] | undefined {
  if (schedule === undefined && timezone === undefined) return undefined;
  const known = { ...profile, startDate: profile.start_date, creationTime: profile.creation_time };
  const changed = { ...known, schedule: schedule ?? profile.schedule, timezone: timezone ?? profile.timezone };
  if (schedule !== undefined) return planRequested(changed, now, { change: true });
  const dates = planDates(changed, now);
  // In another zone, days that the rule takes from the start may differ.
  if (dates.length > 0 || planDates(known, now).length === 0) return dates;
  throw fieldError('body.timezone', 'must leave the schedule a future date');
}

/** A due date remains due under another rule, in case its run has not started yet. */
function keepDue({ plannedDates }: UsgProfile, dates: readonly Date[], now: Date): Date[] {
  const due = lastDueDate(plannedDates, now);
  return due === null ? [...dates] : [due, ...dates];
}

async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<UsgProfile> {
  requireManageable(caller, await requireVisible(tx, caller, id));
  return (await lockUsgProfile(tx, id))!;
}

async function requireChangeable(sql: Sql, caller: Caller, id: number): Promise<UsgProfileRow> {
  return requireActive(requireManageable(caller, await requireVisible(sql, caller, id)));
}

function requireManageable(caller: Caller, row: UsgProfileRow): UsgProfileRow {
  if (holdsIn(caller, 'ManageUsgProfile', row.access_group_id)) return row;
  throw new DomainError('Forbidden', 'You may not manage this USG profile');
}

function requireActive<T extends { archived: boolean }>(profile: T): T {
  if (profile.archived) throw new DomainError('ProfileArchived', 'The USG profile is archived');
  return profile;
}

const PARTS = {
  title: 'the title',
  schedule: 'the schedule',
  timezone: 'the time zone',
  allComputers: 'the choice of computers',
  tags: 'the tags',
  restartDeliverDelay: 'the delay of restarts',
  restartDeliverDelayWindow: 'the window of restarts',
};

function eventOf({ id, title }: UsgProfile, message: string) {
  return { entityType: 'UsgProfile' as const, entityId: id, entityName: title, message };
}
