import type { Client } from '@temporalio/client';
import { parseScheduleId, scheduleIdOf } from '../../src/domain/schedules/profile-schedule.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import {
  enqueueScheduleSync,
  enqueueScheduleSyncs,
} from '../../src/persistence/schedules/schedule-syncs.repository.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { MissedRun, ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { isDeclaredAs, isPausedByOperator } from '../../temporal/profile-schedules.ts';
import { isServerAway } from '../dispatcher/refused.ts';

export interface MissedDatesDeps {
  db: Database;
  client: Client;
  kinds: ProfileKinds;
  logger: Logger;
}

/** A date is left to the server for this long. */
const GRACE_MS = 60_000;

/**
 * Starts the run of the latest date of every profile whose schedule let it pass, once: a server that was away, or came
 * back without its data, makes up for a day at most. Dates of schedules that an operator paused are let pass, each with
 * an event: they do not run when the pause ends.
 * @param count - told of the kind of the profile of each date that was missed, when its run is made; not of those that were
 * let pass
 * @throws when the server is away; a single profile that fails is logged and left to the next round
 * @see docs/architecture.md#missed-runs
 */
export async function startMissedDates(
  deps: MissedDatesDeps,
  now: Date,
  count: (kind: string) => void = () => undefined,
): Promise<void> {
  for (const kind of deps.kinds.values()) {
    for (const date of await kind.missedRuns(new Date(now.getTime() - GRACE_MS))) {
      try {
        await startMissed(deps, kind, date, { now, count });
      } catch (error) {
        if (isServerAway(error)) throw error;
        const { profileId } = date;
        deps.logger.error({ kind: kind.name, profileId, err: error }, 'a date passed and its run could not be started');
      }
    }
  }
}

async function startMissed(
  { client, logger }: MissedDatesDeps,
  kind: ProfileKind,
  { profileId, scheduledTime }: MissedRun,
  { now, count }: { now: Date; count: (kind: string) => void },
): Promise<void> {
  if (await isPausedByOperator(client, scheduleIdOf(kind.name, profileId))) {
    await kind.skipRun(profileId, scheduledTime, now);
    await kind.refill(profileId, now);
    return;
  }
  const outcome = await kind.startDueRun(profileId, scheduledTime, now);
  count(kind.name);
  logger.warn({ kind: kind.name, profileId, scheduledTime, outcome }, 'a date passed without its schedule');
  await kind.refill(profileId, now);
}

/**
 * Orders every schedule to be made equal to its profile: what the server has may be of rows that are lost, or of a time
 * before them.
 */
export async function orderEverySchedule(
  { db, kinds }: Pick<MissedDatesDeps, 'db' | 'kinds'>,
  now: Date,
): Promise<void> {
  for (const kind of kinds.values()) {
    const schedules = await kind.expectedSchedules(now);
    await db.transaction((tx) => enqueueScheduleSyncs(tx, [...schedules.keys()], now));
  }
}

/**
 * Orders the schedules that are missing on the server, those that are of a time before their profile was changed, and
 * those that no profile wants any more.
 * @remarks Orders change nothing where visibility was merely behind.
 */
export async function compareSchedules({ db, client, kinds }: MissedDatesDeps, now: Date): Promise<void> {
  const wanted = new Map<string, string>();
  for (const kind of kinds.values()) for (const [id, note] of await kind.expectedSchedules(now)) wanted.set(id, note);
  const wrong = new Set(wanted.keys());
  for await (const { scheduleId, state } of client.schedule.list()) {
    const profile = parseScheduleId(scheduleId);
    const kind = profile && kinds.get(profile.kind);
    if (!kind) continue;
    const note = wanted.get(scheduleId);
    if (note !== undefined && isDeclaredAs(state, note)) wrong.delete(scheduleId);
    else if (note === undefined && (await kind.desiredSchedule(db, profile.profileId, now)) === null)
      wrong.add(scheduleId);
  }
  for (const id of wrong) await db.transaction((tx) => enqueueScheduleSync(tx, id, now));
}
