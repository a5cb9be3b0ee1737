import type { Client } from '@temporalio/client';
import { type DueOutcome, scheduleIdOf } from '../../src/domain/schedules/profile-schedule.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { MissedRun, ProfileKind, ProfileKinds } from '../../src/services/schedules/profile-kind.ts';

export interface LateRunsDeps {
  client: Client;
  kinds: ProfileKinds;
  clock: { now(): Date };
  logger: Logger;
  isLeader: () => boolean;
}

const LATE_MS = 2_000;
/** Runs this late are started even when there are few: a server misses dates while it creates a schedule. */
const MISSED_MS = 5_000;
/** Older dates are left to the reconciler, which knows whether the database was restored. */
const RECENT_MS = 60_000;
/** This many late dates mean that the server is behind; fewer will start by themselves. */
const MANY = 50;
const TAKEN: ReadonlySet<DueOutcome> = new Set(['started', 'busy']);
const CONCURRENCY = 3;

/** Starts runs that the server, which takes tens of ms for each, is late with. Its own start later finds the run. */
export function lateRunsPoll(deps: LateRunsDeps): () => Promise<boolean> {
  /** Per kind, the earliest date in progress; it is continued even when it is no longer recent. */
  const inProgress = new Map<string, number>();
  return async () => {
    if (!deps.isLeader()) {
      inProgress.clear();
      return false;
    }
    let more = false;
    for (const kind of deps.kinds.values()) {
      const now = deps.clock.now().getTime();
      const from = inProgress.get(kind.name);
      const missed = await kind.missedRuns(new Date(now - LATE_MS));
      const late = missed.filter(
        ({ scheduledTime }) => scheduledTime.getTime() >= Math.min(from ?? now, now - RECENT_MS),
      );
      const isMany = late.length >= MANY;
      const isMissed = late.some(({ scheduledTime }) => now - scheduledTime.getTime() > MISSED_MS);
      const done = isMany || isMissed || from !== undefined ? await startLate(deps, kind, late) : 0;
      if (done === 0) inProgress.delete(kind.name);
      else inProgress.set(kind.name, Math.min(...late.map(({ scheduledTime }) => scheduledTime.getTime())));
      more ||= isMany && done > 0;
    }
    return more;
  };
}

async function startLate(deps: LateRunsDeps, kind: ProfileKind, late: readonly MissedRun[]): Promise<number> {
  if (late.length === 0) return 0;
  const paused = await pausedSchedules(deps.client);
  const waiting = late.filter(({ profileId }) => !paused.has(scheduleIdOf(kind.name, profileId)));
  let done = 0;
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let date = waiting.pop(); date; date = waiting.pop()) {
      try {
        const { outcome } = await kind.startRun(date.profileId, date.scheduledTime, deps.clock.now());
        if (TAKEN.has(outcome)) done += 1;
      } catch (error) {
        failed += 1;
        deps.logger.warn({ kind: kind.name, profileId: date.profileId, err: error }, 'a late run could not be started');
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  deps.logger.info({ kind: kind.name, runs: done, failed }, 'started runs that the server is late with');
  return done;
}

async function pausedSchedules(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { scheduleId } of client.schedule.list({ query: 'TemporalSchedulePaused = true' })) {
    ids.add(scheduleId);
  }
  return ids;
}
