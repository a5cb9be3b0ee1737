import { DomainError } from '../../../domain/common/errors.ts';
import { lastDueDate } from '../../../domain/schedules/plan.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { readBaseActivity } from '../../../persistence/activities/activities.repository.ts';
import {
  archiveUsgProfile,
  lockUsgProfile,
  type UsgProfileChange,
  type UsgProfileRow,
  updateUsgProfile,
} from '../../../persistence/compliance/usg-profiles.repository.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import { type BaseActivity, toBaseActivity } from '../../activities/activity-views.ts';
import { requirePrior } from '../../activities/prior-activity.ts';
import { fieldError, readLine, readTimezone } from '../../common/fields.ts';
import type { Caller } from '../../common/ports.ts';
import { readTags } from '../../common/tag-fields.ts';
import { holdsIn } from '../../identity/group-rights.ts';
import { planDates, planRequested } from '../../schedules/recurring-dates.ts';
import type { UsgProfile, UsgProfilePatch, UsgProfilesDeps } from './model.ts';
import { requireVisible, toProfiles } from './reads.ts';
import { startUsgRun } from './usg-runs.ts';

export async function patchProfile(
  deps: UsgProfilesDeps,
  caller: Caller,
  id: number,
  patch: UsgProfilePatch,
): Promise<UsgProfile> {
  const now = deps.clock.now();
  const known = requireActive(requireManageable(caller, await requireVisible(deps.db, caller, id)));
  const change = checkPatch(known, patch, now);
  return deps.db.transaction(async (tx) => {
    const row = requireActive(await lockManageable(tx, caller, id));
    const planned = change.planned_dates && keepDue(row, change.planned_dates, now);
    if (Object.keys(change).length > 0) {
      await updateUsgProfile(tx, id, { ...change, ...(planned && { planned_dates: planned }) }, now);
      await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
      const message = `Changed ${describe(change)} of the USG profile ${row.title}`;
      await recordEvent(tx, caller, eventOf({ ...row, title: change.title ?? row.title }, message));
    }
    return readChanged(tx, caller, id, now);
  });
}

export async function archiveProfile(deps: UsgProfilesDeps, caller: Caller, id: number): Promise<UsgProfile> {
  const now = deps.clock.now();
  return deps.db.transaction(async (tx) => {
    const row = await lockManageable(tx, caller, id);
    if (!row.archived) {
      await archiveUsgProfile(tx, id, now);
      await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
      await recordEvent(tx, caller, eventOf(row, `Archived the USG profile ${row.title}`));
    }
    return readChanged(tx, caller, id, now);
  });
}

export async function executeProfile(
  deps: UsgProfilesDeps,
  caller: Caller,
  id: number,
  { after, traceparent }: { after: number | null; traceparent: string | null },
): Promise<BaseActivity> {
  const now = deps.clock.now();
  const row = await deps.db.transaction(async (tx) => {
    const profile = requireActive(await lockManageable(tx, caller, id));
    const outcome = await startUsgRun(
      tx,
      profile,
      { scheduledTime: null, now, traceparent, prior: (computers) => requirePrior(tx, caller, after, computers, now) },
      deps,
    );
    if (typeof outcome === 'string') {
      throw new DomainError('ActivityInProgress', 'Every computer of the profile still has an open run of it');
    }
    await recordEvent(tx, caller, eventOf(profile, `Started a run of the USG profile ${profile.title}`));
    return readBaseActivity(tx, outcome.activityId, now);
  });
  return toBaseActivity(row, now);
}

function checkPatch(profile: UsgProfileRow, patch: UsgProfilePatch, now: Date): UsgProfileChange {
  const change: UsgProfileChange = {};
  if (patch.title !== undefined) change.title = readLine('body.title', patch.title);
  if (patch.allComputers !== undefined) change.all_computers = patch.allComputers;
  if (patch.tags !== undefined) change.tags = readTags('body.tags', patch.tags);
  if (patch.restartDelayHours !== undefined) change.restart_deliver_delay = patch.restartDelayHours;
  if (patch.restartWindowMinutes !== undefined) change.restart_deliver_delay_window = patch.restartWindowMinutes;
  if (patch.schedule !== undefined) change.schedule = patch.schedule;
  if (patch.timezone !== undefined) change.timezone = readTimezone('body.timezone', patch.timezone);
  const planned = planPatched(profile, change, now);
  return planned === null ? change : { ...change, planned_dates: planned };
}

/** Dates of the changed schedule; null if it is unchanged. */
function planPatched(profile: UsgProfileRow, { schedule, timezone }: UsgProfileChange, now: Date): Date[] | null {
  if (schedule === undefined && timezone === undefined) return null;
  const changed = { ...profile, schedule: schedule ?? profile.schedule, timezone: timezone ?? profile.timezone };
  if (schedule !== undefined) return planRequested(changed, now, { change: true });
  const dates = planDates(changed, now);
  // In another zone, days that the rule takes from the start may differ.
  if (dates.length > 0 || planDates(profile, now).length === 0) return dates;
  throw fieldError('body.timezone', 'must leave the schedule a future date');
}

/** A due date remains due under another rule, in case its run has not started yet. */
function keepDue({ planned_dates }: UsgProfileRow, dates: readonly Date[], now: Date): Date[] {
  const due = lastDueDate(planned_dates, now);
  return due === null ? [...dates] : [due, ...dates];
}

/** @throws {DomainError} UnknownUsgProfile, Forbidden */
async function lockManageable(tx: Sql, caller: Caller, id: number): Promise<UsgProfileRow> {
  requireManageable(caller, await requireVisible(tx, caller, id));
  return (await lockUsgProfile(tx, id))!;
}

function requireManageable(caller: Caller, row: UsgProfileRow): UsgProfileRow {
  if (holdsIn(caller, 'ManageUsgProfile', row.access_group_id)) return row;
  throw new DomainError('Forbidden', 'You may not manage this USG profile');
}

function requireActive(row: UsgProfileRow): UsgProfileRow {
  if (row.archived) throw new DomainError('ProfileArchived', 'The USG profile is archived');
  return row;
}

async function readChanged(tx: Sql, caller: Caller, id: number, now: Date): Promise<UsgProfile> {
  const row = await requireVisible(tx, caller, id);
  const [profile] = await toProfiles(tx, caller.accountId, [row], now);
  return profile!;
}

const PARTS: ReadonlyArray<readonly [keyof UsgProfileChange, string]> = [
  ['title', 'the title'],
  ['schedule', 'the schedule'],
  ['timezone', 'the time zone'],
  ['all_computers', 'the choice of computers'],
  ['tags', 'the tags'],
  ['restart_deliver_delay', 'the delay of restarts'],
  ['restart_deliver_delay_window', 'the window of restarts'],
];

function describe(change: UsgProfileChange): string {
  return PARTS.flatMap(([name, words]) => (change[name] === undefined ? [] : [words])).join(', ');
}

function eventOf(row: UsgProfileRow, message: string) {
  return { entityType: 'UsgProfile' as const, entityId: row.id, entityName: row.title, message };
}
