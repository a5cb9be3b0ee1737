import type { ActivitySettings } from '../../../process/config.ts';
import type { DesiredSchedule } from '../../../domain/schedules/desired-schedule.ts';
import type { DueOutcome } from '../../../domain/schedules/due-outcome.ts';
import { isAhead, lastDueDate, needsRefill } from '../../../domain/schedules/plan.ts';
import { scheduleIdOf } from '../../../domain/schedules/schedule-id.ts';
import { UTC } from '../../../domain/common/time-zone.ts';
import { runSummary } from '../../../domain/compliance/run-steps.ts';
import type { Logger } from '../../../process/logger.ts';
import { recordEvent } from '../../../persistence/events/events.repository.ts';
import { orderScheduleSync } from '../../../persistence/schedules/schedule-orders.repository.ts';
import {
  lockUsgProfile,
  readUsgProfile,
  setPlannedDates,
  type UsgProfileRow,
} from '../../../persistence/compliance/usg-profiles.repository.ts';
import { missedUsgDates, usgProfilesWithDates } from '../../../persistence/compliance/usg-schedules.repository.ts';
import type { Database, Sql } from '../../../persistence/database/sql.ts';
import type { FileStore } from '../../common/ports.ts';
import { startUsgRun } from './usg-runs.ts';
import { isOperatorsRun } from '../../schedules/operator-runs.ts';
import type { ProfileKind } from '../../schedules/profile-kind.ts';
import { MISSED_LIMIT, scheduleActor } from '../../schedules/profile-run.ts';
import { planDates } from '../../schedules/recurring-dates.ts';

export interface UsgKindDeps {
  db: Database;
  files: FileStore;
  settings: ActivitySettings;
  logger: Logger;
  /** Base of the link in the note of a schedule. */
  publicUrl: string;
}

/** USG profiles: explicit dates of a recurrence rule, filled up as they pass. */
export function createUsgKind(deps: UsgKindDeps): ProfileKind {
  const { db } = deps;
  return {
    name: 'usg',
    desired: async (sql, profileId, now) => toSchedule(await readUsgProfile(sql, profileId), now, deps.publicUrl),
    startDue: (profileId, nominalTime, now) =>
      db.transaction((tx) => startDue(tx, deps, { profileId, nominalTime, now })),
    refill: (profileId, now) => refill(deps, profileId, now),
    missed: (dueBefore, profileId) => missedUsgDates(db, dueBefore, { profileId, limit: MISSED_LIMIT }),
    passOver: (profileId, latest, now) => db.transaction((tx) => passOver(tx, { profileId, latest, now })),
    expected: async (now) => {
      const profiles = await usgProfilesWithDates(db, now);
      return new Map(profiles.map((row) => [scheduleIdOf('usg', row.id), noteOf(row)]));
    },
  };
}

function toSchedule(row: UsgProfileRow | null, now: Date, publicUrl: string): DesiredSchedule | null {
  if (!row || row.archived) return null;
  return {
    kind: 'usg',
    profileId: row.id,
    accountId: row.account_id,
    times: { kind: 'dates', dates: row.planned_dates.filter((date) => date > now) },
    summary: runSummary(row),
    note: `${noteOf(row)}${publicUrl}/api/v2/usg-profiles/${row.id}`,
  };
}

/** Names all that the dates go by; profiles in UTC have the note that they had before there were time zones. */
function noteOf({ mode, schedule, timezone }: Pick<UsgProfileRow, 'mode' | 'schedule' | 'timezone'>): string {
  const zone = timezone === UTC ? '' : ` in ${timezone}`;
  return `USG ${mode} by ${schedule}${zone}; further dates are added as these pass; `;
}

async function startDue(
  tx: Sql,
  deps: UsgKindDeps,
  { profileId, nominalTime, now }: { profileId: number; nominalTime: Date; now: Date },
): Promise<DueOutcome> {
  const row = await lockUsgProfile(tx, profileId);
  if (!row || row.archived) return 'archived';
  if (isAhead(nominalTime, now)) return 'not-planned';
  const planned = row.planned_dates.some((date) => date.getTime() === nominalTime.getTime());
  const run = { editedAt: row.modification_time, nominalTime, now };
  if (!planned && !(await isOperatorsRun(tx, scheduleIdOf('usg', profileId), run))) return 'not-planned';
  const latest = lastDueDate(row.planned_dates, now);
  if (planned && latest !== null && latest > nominalTime) return 'superseded';
  const outcome = await startUsgRun(tx, row, { nominalTime, now }, deps);
  if (outcome === 'known') return 'known';
  if (outcome !== 'busy') return 'started';
  deps.logger.warn({ profileId, nominalTime }, 'a scheduled run was skipped: every computer still has an open one');
  await recordEvent(tx, scheduleActor(row.account_id), {
    entityType: 'UsgProfile',
    entityId: row.id,
    entityName: row.title,
    message: `Skipped a scheduled run of the USG profile ${row.title}: every computer still has an open run`,
  });
  return 'busy';
}

async function passOver(
  tx: Sql,
  { profileId, latest, now }: { profileId: number; latest: Date; now: Date },
): Promise<void> {
  const row = await lockUsgProfile(tx, profileId);
  if (!row || row.archived || !row.planned_dates.some((date) => date.getTime() === latest.getTime())) return;
  await setPlannedDates(
    tx,
    profileId,
    row.planned_dates.filter((date) => date > now),
  );
  await recordEvent(tx, scheduleActor(row.account_id), {
    entityType: 'UsgProfile',
    entityId: row.id,
    entityName: row.title,
    message: `Left out the run of the USG profile ${row.title} that was due at ${latest.toISOString()}`,
  });
}

async function refill({ db }: UsgKindDeps, profileId: number, now: Date): Promise<void> {
  const known = await readUsgProfile(db, profileId);
  if (!known || known.archived || !needsRefill(known.planned_dates, now)) return;
  const dates = planDates(known, now);
  await db.transaction(async (tx) => {
    const row = await lockUsgProfile(tx, profileId);
    if (!row || row.archived || row.schedule !== known.schedule || row.timezone !== known.timezone) return;
    const ahead = row.planned_dates.filter((date) => date > now);
    if (ahead.length === dates.length) return;
    const due = lastDueDate(row.planned_dates, now);
    await setPlannedDates(tx, profileId, due === null ? dates : [due, ...dates]);
    await orderScheduleSync(tx, scheduleIdOf('usg', profileId), now);
  });
}
