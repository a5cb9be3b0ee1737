import { DomainError } from '../../../domain/common/errors.ts';
import { UTC } from '../../../domain/common/time-zone.ts';
import { BENCHMARKS, CUSTOM_BENCHMARK, readMode, tailoringFileKey } from '../../../domain/compliance/profile.ts';
import { slugOf } from '../../../domain/identity/access-group-names.ts';
import { scheduleIdOf } from '../../../domain/schedules/profile-schedule.ts';
import { insertUsgProfile } from '../../../persistence/compliance/usg-profiles.repository.ts';
import { freeName } from '../../../persistence/database/free-name.ts';
import type { Sql } from '../../../persistence/database/sql.ts';
import { recordEvent } from '../../../persistence/events/events.sql.ts';
import { lockRights } from '../../../persistence/identity/rights.repository.ts';
import { enqueueScheduleSync } from '../../../persistence/schedules/schedule-syncs.sql.ts';
import { fieldError, readLine, readTimezone } from '../../common/fields.ts';
import type { Caller } from '../../common/ports.ts';
import { readTags } from '../../common/tag-fields.ts';
import { holdsIn } from '../../identity/group-rights.ts';
import { resolveAccessGroups } from '../../identity/resolve-names.ts';
import { planRequested, readScheduleMoment } from '../../schedules/recurring-dates.ts';
import type { UsgDatesRequest, UsgProfileRequest, UsgProfilesDeps } from './model.ts';
import { readAsEditor } from './reads.ts';
import { checkTailoringFile } from './tailoring-file.ts';
import { startUsgRun } from './usg-runs.ts';

const ROOT = 'global';

/** Runs at once unless it starts later. @throws InvalidParameter, IntervalTooShort, UnknownAccessGroup, Forbidden */
export async function createProfile(deps: UsgProfilesDeps, caller: Caller, request: UsgProfileRequest) {
  const { tailoringFile, traceparent } = request;
  const { accountId } = caller;
  const now = deps.clock.now();
  const fields = await readFields(request, now);
  const { title, startDate } = fields;
  return deps.db.transaction(async (tx) => {
    await lockRights(tx, accountId);
    const profile = await insertUsgProfile(tx, {
      ...fields,
      account: accountId,
      accessGroup: await requireGroup(tx, caller, request.accessGroup ?? ROOT),
      name: await freeName(tx, 'usg_profile', accountId, slugOf(title, 'profile')),
      creatorId: caller.personId,
      modificationTime: now,
      tailoringFileKey: null,
    });
    const { id } = profile;
    // With a tailoring file the benchmark may be any text, but an event is one line.
    const rules = tailoringFile === null ? `of ${fields.benchmark}` : 'by its tailoring file';
    const message = `Created the USG profile ${title}: ${fields.mode} ${rules}`;
    await recordEvent(tx, caller, { entityType: 'UsgProfile', entityId: id, entityName: title, message });
    if (tailoringFile !== null) {
      const key = tailoringFileKey(id, now);
      const file = { accountId, key, kind: 'tailoring' as const, profileId: id, creationTime: now };
      await deps.files.put(tx, { ...file, content: tailoringFile });
      profile.tailoringFileKey = key;
    }
    if (startDate <= now) await startUsgRun(tx, profile, { scheduledTime: startDate, now, traceparent }, deps);
    await enqueueScheduleSync(tx, scheduleIdOf('usg', id), now);
    return readAsEditor(tx, caller, id, now);
  });
}

/** Up to `limit` dates that a profile would have if it were created now. @throws InvalidParameter, IntervalTooShort */
export function previewDates({ clock }: UsgProfilesDeps, request: UsgDatesRequest, limit: number) {
  const { timezone, plannedDates } = readSchedule(request, clock.now());
  return { timezone, dates: plannedDates.slice(0, limit) };
}

async function readFields(request: UsgProfileRequest, now: Date) {
  const title = readLine('body.title', request.title);
  const tags = readTags('body.tags', request.tags);
  const mode = readMode(request.mode);
  if (mode === null) throw fieldError('body.mode', 'must be audit, fix-audit or fix-restart-audit');
  if (request.tailoringFile !== null) await checkTailoringFile(request.tailoringFile);
  const benchmark = readBenchmark(request);
  return {
    ...readSchedule(request, now),
    title,
    tags,
    mode,
    benchmark,
    allComputers: request.allComputers,
    restartDeliverDelay: request.restartDelayHours,
    restartDeliverDelayWindow: request.restartWindowMinutes,
  };
}

function readSchedule(request: UsgDatesRequest, now: Date) {
  const startDate = readScheduleMoment('body.start_date', request.startDate);
  const timezone = readTimezone('body.timezone', request.timezone ?? UTC);
  const profile = { schedule: request.schedule, timezone, startDate, creationTime: now };
  return { ...profile, plannedDates: planRequested(profile, now, { change: false }) };
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
  if (holdsIn(caller, 'ManageUsgProfile', id!)) return id!;
  throw new DomainError('Forbidden', 'You may not manage USG profiles in this access group');
}
