import type { Client } from '@temporalio/client';
import { type DesiredSchedule, parseScheduleId } from '../../src/domain/schedules/profile-schedule.ts';
import { hasCommands } from '../../src/persistence/activities/outbox.sql.ts';
import type { Database, Sql } from '../../src/persistence/database/sql.ts';
import {
  claimScheduleSyncs,
  deleteScheduleSyncs,
  lockSchedules,
  type ScheduleSync,
} from '../../src/persistence/schedules/schedule-syncs.sql.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { ProfileKinds } from '../../src/services/schedules/profile-kind.ts';
import { CALL_LIMIT_MS } from '../../temporal/client/connection.ts';
import { ensureSchedule, isPausedByOperator } from '../../temporal/schedules/profile-schedules.ts';
import type { Poll } from './loop.ts';
import { KEPT_POLL_MS } from './outbox.ts';
import { isServerUnavailable, RejectedEntries } from './rejected.ts';

interface ScheduleCommandsDeps {
  db: Database;
  client: Client;
  kinds: ProfileKinds;
  clock: { now(): Date };
  logger: Logger;
  count: (what: 'scheduled' | 'refused') => void;
}

const LIMIT = 20;

/** Up to 20 in one transaction. Starts dates missed before. @see docs/architecture.md#schedules-of-profiles */
export function scheduleCommandsPoll(deps: ScheduleCommandsDeps): Poll {
  const rejected = new RejectedEntries();
  return async () => {
    if (!(await hasCommands(deps.db, ['schedule_sync']))) return false;
    const done = await deps.db.transaction(async (tx) => {
      const now = Date.now();
      const commands = await claimScheduleSyncs(tx, rejected.waiting(performance.now()), LIMIT);
      if (commands.length === 0) return [];
      const updated = await deps.client.withDeadline(now + CALL_LIMIT_MS, () =>
        updateSchedules(deps, tx, commands, rejected),
      );
      const ids = updated.map(({ id }) => id);
      await deleteScheduleSyncs(tx, ids);
      rejected.delete(ids);
      return updated;
    });
    await startMissed(deps, new Set(done.map(({ key }) => key)));
    return done.length === LIMIT ? true : KEPT_POLL_MS;
  };
}

async function updateSchedules(
  deps: ScheduleCommandsDeps,
  tx: Sql,
  commands: readonly ScheduleSync[],
  rejected: RejectedEntries,
): Promise<ScheduleSync[]> {
  const ids = [...new Set(commands.map(({ key }) => key))];
  await lockSchedules(tx, ids);
  const desired = new Map<string, DesiredSchedule | null>();
  for (const id of ids) desired.set(id, await readDesired(deps, tx, id));
  const failed = new Set<string>();
  const ensure = async (id: string): Promise<void> => {
    try {
      const outcome = await ensureSchedule(deps.client, id, desired.get(id) ?? null);
      deps.count('scheduled');
      deps.logger.debug({ schedule: id, outcome }, 'schedule updated from its profile');
    } catch (error) {
      if (isServerUnavailable(error)) throw error;
      failed.add(id);
      deps.count('refused');
      deps.logger.error({ schedule: id, err: error }, 'Temporal rejected a schedule; will retry');
    }
  };
  const ends = await Promise.allSettled(ids.map(ensure));
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure) throw failure.reason;
  for (const { id, key } of commands) if (failed.has(key)) rejected.add(id);
  return commands.filter(({ key }) => !failed.has(key));
}

async function readDesired(deps: ScheduleCommandsDeps, tx: Sql, id: string): Promise<DesiredSchedule | null> {
  const profile = parseScheduleId(id);
  const kind = profile && deps.kinds.get(profile.kind);
  return kind ? await kind.desiredSchedule(tx, profile.profileId, deps.clock.now()) : null;
}

/** A server does not start dates before its schedule was written. Dates during a pause are left to the reconciler. */
async function startMissed(deps: ScheduleCommandsDeps, scheduleIds: ReadonlySet<string>): Promise<void> {
  const { kinds, client, clock } = deps;
  for (const id of scheduleIds) {
    const profile = parseScheduleId(id);
    const kind = profile && kinds.get(profile.kind);
    if (!kind) continue;
    const now = clock.now();
    const passed = await kind.datesDueBefore(now, profile);
    if (passed.length === 0 || (await isPaused(client, id))) continue;
    for (const { scheduledTime } of passed) await kind.startRun(profile.profileId, scheduledTime, now);
  }
}

function isPaused(client: Client, scheduleId: string): Promise<boolean> {
  return client.withDeadline(Date.now() + CALL_LIMIT_MS, () => isPausedByOperator(client, scheduleId));
}
