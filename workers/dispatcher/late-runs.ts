import type { Client } from '@temporalio/client';
import { type DueOutcome, scheduleIdOf } from '../../src/domain/schedules/profile-schedule.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { MissedRun, ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';

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
/** Dates this late are started however few: a server misses those that come while it takes a new schedule on. */
const MISSED_MS = 5_000;
/** Dates first seen later are left to the reconciler, which knows whether the database was restored. */
const RECENT_MS = 60_000;
/** So many late dates at once mean that the server is behind; fewer are on their way. */
const MANY = 50;
/** With these a date got its run, or was skipped for good: only then another look at once may find fewer. */
const TAKEN: ReadonlySet<DueOutcome> = new Set(['started', 'busy']);
/** Runs started at a time. */
const AT_ONCE = 3;

/**
 * Makes the round of a loop: starts the runs of dates that the server is behind with or has missed, to the last of
 * them. Of thousands of schedules due in one moment it works tens of milliseconds on each; a run itself takes few. What
 * the schedules start later finds its run there, and plans further dates.
 * @returns a round that tells whether more is to be done at once
 * @remarks Schedules that an operator paused are left alone, also those that are paused because nothing is ahead: their
 * dates are looked after by the reconciler. A run that fails does not keep others from being started.
 */
export function lateRunsPoll(deps: LateDatesDeps): () => Promise<boolean> {
  /** By kind: the earliest date of those it is at, which it goes on with when they are not recent any more. */
  const begun = new Map<string, number>();
  return async () => {
    if (!deps.isLeader()) {
      begun.clear();
      return false;
    }
    let more = false;
    for (const kind of deps.kinds.values()) {
      const now = deps.clock.now().getTime();
      const from = begun.get(kind.name);
      const missed = await kind.missedRuns(new Date(now - LATE_MS));
      const late = missed.filter(
        ({ scheduledTime }) => scheduledTime.getTime() >= Math.min(from ?? now, now - RECENT_MS),
      );
      const isMany = late.length >= MANY;
      const isMissed = late.some(({ scheduledTime }) => now - scheduledTime.getTime() > MISSED_MS);
      const done = isMany || isMissed || from !== undefined ? await startLate(deps, kind, late) : 0;
      if (done === 0) begun.delete(kind.name);
      else begun.set(kind.name, Math.min(...late.map(({ scheduledTime }) => scheduledTime.getTime())));
      more ||= isMany && done > 0;
    }
    return more;
  };
}

/** @returns how many are dealt with */
async function startLate(deps: LateDatesDeps, kind: ProfileKind, late: readonly MissedRun[]): Promise<number> {
  if (late.length === 0) return 0;
  const paused = await pausedSchedules(deps.client);
  const waiting = late.filter(({ profileId }) => !paused.has(scheduleIdOf(kind.name, profileId)));
  let done = 0;
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let date = waiting.pop(); date; date = waiting.pop()) {
      try {
        const outcome = await kind.startDueRun(date.profileId, date.scheduledTime, deps.clock.now());
        if (TAKEN.has(outcome)) done += 1;
      } catch (error) {
        failed += 1;
        deps.logger.warn({ kind: kind.name, profileId: date.profileId, err: error }, 'a late run could not be started');
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  deps.logger.info({ kind: kind.name, runs: done, failed }, 'the server is behind with schedules');
  return done;
}

async function pausedSchedules(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { scheduleId } of client.schedule.list({ query: 'TemporalSchedulePaused = true' })) {
    ids.add(scheduleId);
  }
  return ids;
}
