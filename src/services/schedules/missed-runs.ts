import { parseScheduleId, scheduleIdOf } from '../../domain/schedules/profile-schedule.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { enqueueScheduleSync, enqueueScheduleSyncs } from '../../persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../process/logger.ts';
import type { ProfileKind, ProfileKinds, RunDate } from './profile-kind.ts';

/** Schedules on the Temporal server. */
export interface ProfileSchedules {
  /** Whether a schedule exists and an operator has paused it. */
  isPausedByOperator(scheduleId: string): Promise<boolean>;
  /** All of the server, also those that belong to no profile. */
  list(): AsyncIterable<{
    scheduleId: string;
    /** Whether it was declared with a note that starts with `beginning`, or is controlled by an operator. */
    isDeclaredAs(beginning: string): boolean;
  }>;
  /** Whether a call failed because the server is unavailable. */
  isUnavailable(error: unknown): boolean;
}

interface MissedRunsDeps {
  db: Database;
  schedules: ProfileSchedules;
  kinds: ProfileKinds;
  logger: Logger;
}

/** A date is left to the server for this long. */
const GRACE_MS = 60_000;

/**
 * The latest of each profile, once; skips those during a pause, with an event. @throws when the server is unavailable;
 * a failing profile is logged and retried in the next run @see docs/architecture.md#missed-runs
 */
export async function startMissedRuns(
  deps: MissedRunsDeps,
  now: Date,
  count: (kind: string) => void = () => undefined,
): Promise<void> {
  for (const kind of deps.kinds.values()) {
    for (const date of await kind.datesDueBefore(new Date(now.getTime() - GRACE_MS))) {
      try {
        await startMissed(deps, kind, date, { now, count });
      } catch (error) {
        if (deps.schedules.isUnavailable(error)) throw error;
        const { profileId } = date;
        deps.logger.error({ kind: kind.name, profileId, err: error }, 'a missed run could not be started');
      }
    }
  }
}

async function startMissed(
  { schedules, logger }: MissedRunsDeps,
  kind: ProfileKind,
  { profileId, scheduledTime }: RunDate,
  { now, count }: { now: Date; count: (kind: string) => void },
): Promise<void> {
  if (await schedules.isPausedByOperator(scheduleIdOf(kind.name, profileId))) {
    await kind.skipRun(profileId, scheduledTime, now);
    await kind.extendSchedule(profileId, now);
    return;
  }
  const start = await kind.startRun(profileId, scheduledTime, now);
  count(kind.name);
  logger.warn({ kind: kind.name, profileId, scheduledTime, ...start }, 'started a missed run');
  await kind.extendSchedule(profileId, now);
}

/** Requests an update of every schedule: those on the server may stem from lost or outdated rows. */
export async function requestEveryScheduleUpdate(
  { db, kinds }: Pick<MissedRunsDeps, 'db' | 'kinds'>,
  now: Date,
): Promise<void> {
  for (const kind of kinds.values()) {
    const expected = await kind.expectedSchedules(now);
    await db.transaction((tx) => enqueueScheduleSyncs(tx, [...expected.keys()], now));
  }
}

/** Requests an update of schedules that are missing on the server, older than their profile, or no longer needed. */
export async function compareSchedules({ db, schedules, kinds }: MissedRunsDeps, now: Date): Promise<void> {
  const wanted = new Map<string, string>();
  for (const kind of kinds.values()) for (const [id, note] of await kind.expectedSchedules(now)) wanted.set(id, note);
  const wrong = new Set(wanted.keys());
  for await (const { scheduleId, isDeclaredAs } of schedules.list()) {
    const profile = parseScheduleId(scheduleId);
    const kind = profile && kinds.get(profile.kind);
    if (!kind) continue;
    const note = wanted.get(scheduleId);
    if (note !== undefined && isDeclaredAs(note)) wrong.delete(scheduleId);
    else if (note === undefined && (await kind.desiredSchedule(db, profile.profileId, now)) === null)
      wrong.add(scheduleId);
  }
  for (const id of wrong) await db.transaction((tx) => enqueueScheduleSync(tx, id, now));
}
