import { DomainError } from '../../../domain/common/errors.ts';
import { UTC } from '../../../domain/common/time-zone.ts';
import {
  BENCHMARKS,
  CUSTOM_BENCHMARK,
  readMode,
  tailoringFileKey,
  type UsgMode,
} from '../../../domain/compliance/profile.ts';
import { slugOf } from '../../../domain/identity/access-group-names.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import {
  insertUsgProfile,
  readUsgProfile,
  setTailoringFile,
} from '../../../persistence/compliance/usg-profiles.repository.ts';
import { freeName } from '../../../persistence/database/free-name.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import { lockRights } from '../../../persistence/identity/rights.repository.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import { fieldError, readLine, readTimezone } from '../../common/fields.ts';
import type { Caller } from '../../common/ports.ts';
import { readTags } from '../../common/tag-fields.ts';
import { resolveAccessGroups } from '../../identity/resolve-names.ts';
import { planRequested, readScheduleMoment } from '../../schedules/recurring-dates.ts';
import type { UsgProfile, UsgProfileRequest, UsgProfilesDeps } from './model.ts';
import { toProfiles } from './reads.ts';
import { checkTailoringFile } from './tailoring-file.ts';
import { startUsgRun } from './usg-runs.ts';

const ROOT = 'global';

interface CheckedRequest {
  title: string;
  tags: string[];
  benchmark: string;
  mode: UsgMode;
  timezone: string;
  startDate: Date;
  plannedDates: Date[];
}

export async function createUsgProfile(
  deps: UsgProfilesDeps,
  caller: Caller,
  request: UsgProfileRequest,
): Promise<UsgProfile> {
  const now = deps.clock.now();
  const checked = await checkRequest(request, now);
  return deps.db.transaction(async (tx) => {
    await lockRights(tx, caller.accountId);
    const id = await insert(tx, caller, request, checked, now);
    if (request.tailoringFile !== null) {
      const key = tailoringFileKey(id, now);
      const { accountId } = caller;
      const file = { accountId, key, kind: 'tailoring' as const, profileId: id, creationTime: now };
      await deps.files.put(tx, { ...file, content: request.tailoringFile });
      await setTailoringFile(tx, id, key);
    }
    const row = (await readUsgProfile(tx, id))!;
    if (checked.startDate <= now) {
      const order = { scheduledTime: checked.startDate, now, traceparent: request.traceparent };
      await startUsgRun(tx, row, order, deps);
    }
    await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
    const [profile] = await toProfiles(tx, caller.accountId, [row], now);
    return profile!;
  });
}

async function insert(
  tx: Sql,
  caller: Caller,
  request: UsgProfileRequest,
  checked: CheckedRequest,
  now: Date,
): Promise<number> {
  const { accountId, personId } = caller;
  const accessGroupId = await requireGroup(tx, caller, request.accessGroup ?? ROOT);
  const name = await freeName(tx, 'usg_profile', accountId, slugOf(checked.title, 'profile'));
  const id = await insertUsgProfile(tx, {
    account_id: accountId,
    access_group_id: accessGroupId,
    creator_id: personId,
    name,
    title: checked.title,
    all_computers: request.allComputers,
    tags: checked.tags,
    benchmark: checked.benchmark,
    mode: checked.mode,
    schedule: request.schedule,
    timezone: checked.timezone,
    start_date: checked.startDate,
    planned_dates: checked.plannedDates,
    restart_deliver_delay: request.restartDelayHours,
    restart_deliver_delay_window: request.restartWindowMinutes,
    creation_time: now,
  });
  // With a tailoring file the benchmark may be any text, but an event is one line.
  const rules = request.tailoringFile === null ? `of ${checked.benchmark}` : 'by its tailoring file';
  const message = `Created the USG profile ${checked.title}: ${checked.mode} ${rules}`;
  await recordEvent(tx, caller, { entityType: 'UsgProfile', entityId: id, entityName: checked.title, message });
  return id;
}

async function checkRequest(request: UsgProfileRequest, now: Date): Promise<CheckedRequest> {
  const title = readLine('body.title', request.title);
  const tags = readTags('body.tags', request.tags);
  const mode = readMode(request.mode);
  if (mode === null) throw fieldError('body.mode', 'must be audit, fix-audit or fix-restart-audit');
  if (request.tailoringFile !== null) await checkTailoringFile(request.tailoringFile);
  const benchmark = readBenchmark(request);
  const startDate = readScheduleMoment('body.start_date', request.startDate);
  const timezone = readTimezone('body.timezone', request.timezone ?? UTC);
  const profile = { schedule: request.schedule, timezone, start_date: startDate, creation_time: now };
  const plannedDates = planRequested(profile, now, { change: false });
  return { title, tags, mode, benchmark, timezone, startDate, plannedDates };
}

/** Not validated with a tailoring file. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
function readBenchmark({ benchmark, tailoringFile }: UsgProfileRequest): string {
  if (tailoringFile !== null) return benchmark?.trim() ? benchmark : CUSTOM_BENCHMARK;
  const known = BENCHMARKS.find((name) => name === benchmark);
  if (!known) throw fieldError('body.benchmark', `must be one of ${BENCHMARKS.join(', ')}`);
  return known;
}

async function requireGroup(tx: Sql, caller: Caller, name: string): Promise<number> {
  const [id] = await resolveAccessGroups(tx, caller.accountId, [name], 'body.access_group');
  const groups = caller.groups('ManageUsgProfile');
  if (groups !== 'all' && !groups.includes(id!)) {
    throw new DomainError('Forbidden', 'You may not manage USG profiles in this access group');
  }
  return id!;
}
