import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';
import type { MissedRun, ProfileKind } from '../../../src/services/schedules/profile-kind.ts';
import { lateRunsPoll } from '../../../workers/dispatcher/late-runs.ts';

const NOW = new Date('2026-05-04T02:11:05Z');
const DUE = new Date('2026-05-04T02:11:00Z');
const LONG_AGO = new Date('2026-05-04T02:10:04Z');
/** Dates that a kind returns at once. */
const PAGE = 500;

function aRound({ late, old = 0, paused = [], failing = [], tooSoon = [], isLeader = true }: Setup) {
  const started: number[] = [];
  let now = NOW;
  const requested: Date[] = [];
  let lists = 0;
  const missed = Array.from({ length: late + old }, (_, n): MissedRun => {
    return { profileId: n + 1, scheduledTime: n < late ? DUE : LONG_AGO };
  });
  const kind: ProfileKind = {
    name: 'usg',
    desiredSchedule: async () => null,
    async startRun(profileId, scheduledTime) {
      expect(scheduledTime).toEqual(DUE);
      if (failing.includes(profileId)) throw new Error('deadlock detected');
      if (tooSoon.includes(profileId)) return { outcome: 'too-soon' };
      started.push(profileId);
      return { outcome: 'started' };
    },
    extendSchedule: async () => [],
    skipRun: async () => {
      throw new Error('not requested');
    },
    async missedRuns(dueBefore) {
      requested.push(dueBefore);
      return missed.filter(({ profileId }) => !started.includes(profileId)).slice(0, PAGE);
    },
    expectedSchedules: async () => new Map(),
  };
  const list = async function* ({ query }: { query: string }) {
    expect(query).toBe('TemporalSchedulePaused = true');
    lists += 1;
    for (const id of paused) yield { scheduleId: `usg/${id}` };
  };
  const round = lateRunsPoll({
    client: { schedule: { list } } as unknown as Client,
    kinds: new Map([['usg', kind]]),
    clock: { now: () => now },
    logger: createLogger({ level: 'silent', role: 'test' }),
    isLeader: () => isLeader,
  });
  const wait = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };
  return { round, started, requested, lists: () => lists, wait };
}

interface Setup {
  late: number;
  old?: number;
  paused?: number[];
  failing?: number[];
  tooSoon?: number[];
  isLeader?: boolean;
}

describe('late runs', () => {
  it('are left to the server as long as they are few', async () => {
    const { round, started, requested, lists } = aRound({ late: 49 });
    expect(await round()).toBe(false);
    expect(requested).toEqual([new Date('2026-05-04T02:11:03Z')]);
    expect([started, lists()]).toEqual([[], 0]);
  });

  it('are started however few, once the server should have', async () => {
    const { round, started, wait } = aRound({ late: 2, old: 1 });
    wait(1);
    expect(await round()).toBe(false);
    expect(started.toSorted()).toEqual([1, 2]);
  });

  it('are started when there are many, but for those that an operator paused', async () => {
    const { round, started } = aRound({ late: 60, paused: [7, 60] });
    await round();
    expect(started.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, n) => n + 1).filter((id) => id !== 7 && id !== 60),
    );
  });

  it('are started even though one of them cannot be', async () => {
    const { round, started } = aRound({ late: 50, failing: [1, 25, 50] });
    await round();
    expect(started).toHaveLength(47);
  });

  it('are left to the reconciler when they are older: the database may be a restored one', async () => {
    const { round, started } = aRound({ late: 49, old: 100 });
    await round();
    expect(started).toEqual([]);
    const both = aRound({ late: 50, old: 100 });
    await both.round();
    expect(Math.max(...both.started)).toBe(50);
  });

  it('are started to the last one, at once while there are many and also when that takes more than a minute', async () => {
    const { round, started, wait } = aRound({ late: 2 * PAGE + 10 });
    expect(await round()).toBe(true);
    expect(started).toHaveLength(PAGE);
    wait(90);
    expect(await round()).toBe(true);
    wait(90);
    expect(await round()).toBe(false);
    expect(started).toHaveLength(2 * PAGE + 10);
  });

  it('stop when none of them can be started', async () => {
    const everyone = Array.from({ length: 60 }, (_, n) => n + 1);
    for (const setup of [{ failing: everyone }, { tooSoon: everyone }]) {
      const { round, started, wait, lists } = aRound({ late: 60, ...setup });
      expect(await round()).toBe(false);
      wait(90);
      expect(await round()).toBe(false);
      expect([started, lists()]).toEqual([[], 1]);
    }
  });

  it('that are older than those in progress are left to the reconciler', async () => {
    const { round, started, wait } = aRound({ late: PAGE - 10, old: 10, failing: [1] });
    expect(await round()).toBe(true);
    wait(90);
    await round();
    expect(started.length).toBe(PAGE - 11);
  });

  it('are handled by one dispatcher only', async () => {
    const { round, started, requested } = aRound({ late: 500, isLeader: false });
    await round();
    expect([started, requested]).toEqual([[], []]);
  });
});
