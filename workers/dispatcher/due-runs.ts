import type { Client } from '@temporalio/client';
import { type DueOutcome, parseScheduleId } from '../../src/domain/schedules/profile-schedule.ts';
import type { Logger } from '../../src/process/logger.ts';
import type { ProfileKind, ProfileKinds, RunDate } from '../../src/services/schedules/profile-kind.ts';

interface DueRunsDeps {
  client: Client;
  kinds: ProfileKinds;
  clock: { now(): Date };
  logger: Logger;
  isLeader: () => boolean;
}

/** Dates so soon are seen in advance, so that their runs start at the moment itself. At least the longest pause of the loop. */
export const AHEAD_MS = 10_000;
/** Runs this late are started even when there are few: a server misses dates while it creates a schedule. */
const LATE_MS = 5_000;
/** Older dates are left to the reconciler, which knows whether the database was restored. */
const RECENT_MS = 60_000;
/** The server takes tens of milliseconds for each date; it starts fewer by itself. */
const MANY = 50;
const TAKEN: ReadonlySet<DueOutcome> = new Set(['started', 'busy']);

/**
 * Starts the runs of many profiles due at one moment together, and those that the server is late with. Its own starts
 * then find these runs. @returns the poll: milliseconds until the next; false for the usual pause
 * @see docs/architecture.md#many-runs-at-one-moment
 */
export function dueRunsPoll(deps: DueRunsDeps): () => Promise<number | false> {
  return async () => {
    let pause: number | false = false;
    for (const kind of deps.kinds.values()) {
      if (!deps.isLeader()) return false;
      const now = deps.clock.now().getTime();
      const dates = await kind.datesDueBefore(new Date(now + AHEAD_MS));
      const times = dates.map(timeOf).filter((time) => time >= now - RECENT_MS);
      const first = Math.min(...times);
      const due = times.filter((time) => time <= now);
      if (due.length >= MANY || first < now - LATE_MS) await startAll(deps, kind, first);
      const next = Math.min(...times.filter((time) => time > now)) - deps.clock.now().getTime();
      if (times.length >= MANY && next < (pause || AHEAD_MS)) pause = Math.max(0, next);
    }
    return pause;
  };
}

const timeOf = ({ scheduledTime }: RunDate): number => scheduledTime.getTime();

/** All that are due since a moment, each tried once, a page at a time. */
async function startAll(deps: DueRunsDeps, kind: ProfileKind, from: number): Promise<void> {
  const { client, clock, logger, isLeader } = deps;
  const paused = await pausedProfiles(client, kind);
  let started = 0;
  let after: number | undefined = 0;
  while (after !== undefined && isLeader()) {
    const page = await kind.datesDueBefore(clock.now(), { after });
    const dates = page.filter((date) => timeOf(date) >= from && !paused.has(date.profileId));
    if (dates.length > 0) started += await startTogether(deps, kind, dates);
    after = page.at(-1)?.profileId;
  }
  if (started > 0) logger.info({ kind: kind.name, runs: started }, 'started runs that are due together, or late');
}

/** If one fails, its half is divided until it fails alone: the others start. @returns how many started */
async function startTogether(deps: DueRunsDeps, kind: ProfileKind, dates: readonly RunDate[]): Promise<number> {
  try {
    const starts = await kind.startRuns(dates, deps.clock.now());
    return starts.filter(({ outcome }) => TAKEN.has(outcome)).length;
  } catch (error) {
    if (dates.length === 1) {
      const about = { kind: kind.name, profileId: dates[0]!.profileId, err: error };
      deps.logger.warn(about, 'a due run could not be started');
      return 0;
    }
    const half = Math.ceil(dates.length / 2);
    const first = await startTogether(deps, kind, dates.slice(0, half));
    return first + (await startTogether(deps, kind, dates.slice(half)));
  }
}

async function pausedProfiles(client: Client, kind: ProfileKind): Promise<Set<number>> {
  const ids = new Set<number>();
  for await (const { scheduleId } of client.schedule.list({ query: 'TemporalSchedulePaused = true' })) {
    const profile = parseScheduleId(scheduleId);
    if (profile?.kind === kind.name) ids.add(profile.profileId);
  }
  return ids;
}
