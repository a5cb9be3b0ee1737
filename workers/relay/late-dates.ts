import type { Client } from '@temporalio/client';
import { scheduleIdOf } from '../../src/domain/schedule/schedule-id.ts';
import type { Logger } from '../../src/logger.ts';
import type { MissedDate, ProfileKind, ProfileKinds } from '../../src/services/schedule/profile-kind.ts';

export interface LateDatesDeps {
  client: Client;
  kinds: ProfileKinds;
  clock: { now(): Date };
  logger: Logger;
  /** Whether this relay looks; the others leave it to that one. */
  isLeader: () => boolean;
}

/** The server starts a date within this time when it has little to do. */
const LATE_MS = 2_000;
/** Older dates are left to the reconciler, which knows whether the database was restored. */
const RECENT_MS = 60_000;
/** So many late dates at once tell that the server is behind; fewer are on their way. */
const MANY = 50;
/** Runs started at a time. */
const AT_ONCE = 3;

/**
 * Makes the round of a loop: starts the runs of dates that the server is behind with. Of thousands of schedules due in
 * one moment it works tens of milliseconds on each; a run itself takes few. What the schedules start later finds its run
 * there, and plans further dates.
 *
 * @remarks Schedules that an operator paused are left alone, also those that are paused because nothing is ahead: their
 * dates are looked after by the reconciler. A run that fails does not keep others from being started.
 * @see temporal-design 6; perf-reliability A3, 13
 */
export function lateDatesRound(deps: LateDatesDeps): () => Promise<boolean> {
  return async () => {
    if (!deps.isLeader()) return false;
    for (const kind of deps.kinds.values()) {
      const now = deps.clock.now().getTime();
      const missed = await kind.missed(new Date(now - LATE_MS));
      const late = missed.filter(({ nominalTime }) => nominalTime.getTime() >= now - RECENT_MS);
      if (late.length >= MANY) await startLate(deps, kind, late);
    }
    return false;
  };
}

async function startLate(deps: LateDatesDeps, kind: ProfileKind, late: readonly MissedDate[]): Promise<void> {
  const paused = await pausedSchedules(deps.client);
  const waiting = late.filter(({ profileId }) => !paused.has(scheduleIdOf(kind.name, profileId)));
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let date = waiting.pop(); date; date = waiting.pop()) {
      try {
        await kind.startDue(date.profileId, date.nominalTime, deps.clock.now());
      } catch (error) {
        failed += 1;
        deps.logger.warn({ kind: kind.name, profileId: date.profileId, err: error }, 'a late run could not be started');
      }
    }
  };
  const started = waiting.length;
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  deps.logger.info({ kind: kind.name, runs: started - failed, failed }, 'the server is behind with schedules');
}

async function pausedSchedules(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { scheduleId } of client.schedule.list({ query: 'TemporalSchedulePaused = true' })) {
    ids.add(scheduleId);
  }
  return ids;
}
