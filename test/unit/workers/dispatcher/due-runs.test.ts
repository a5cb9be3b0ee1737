import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/process/logger.ts';
import type { ProfileKind, RunDate } from '../../../../src/services/schedules/profile-kind.ts';
import { dueRunsPoll } from '../../../../workers/dispatcher/due-runs.ts';

const NOW = new Date('2026-05-04T02:11:01Z');
const DUE = new Date('2026-05-04T02:11:00Z');
const LONG_AGO = new Date('2026-05-04T02:10:00Z');
/** Dates that a kind returns at once. */
const PAGE = 500;

function aRound({ due, old = 0, paused = [], failing = [], tooSoon = [], isLeader = true, at = DUE }: Setup) {
  const started: number[] = [];
  const sizes: number[] = [];
  let now = NOW;
  const requested: Date[] = [];
  let lists = 0;
  const planned = Array.from({ length: due + old }, (_, n): RunDate => {
    return { profileId: n + 1, scheduledTime: n < due ? at : LONG_AGO };
  });
  const kind: ProfileKind = {
    name: 'usg',
    desiredSchedule: async () => null,
    startRun: async () => {
      throw new Error('not requested');
    },
    async startRuns(dates) {
      sizes.push(dates.length);
      for (const { profileId, scheduledTime } of dates) {
        expect(scheduledTime).toEqual(at);
        if (failing.includes(profileId)) throw new Error('deadlock detected');
      }
      return dates.map(({ profileId }) => {
        if (tooSoon.includes(profileId)) return { outcome: 'too-soon' };
        started.push(profileId);
        return { outcome: 'started' };
      });
    },
    extendSchedule: async () => [],
    skipRun: async () => {
      throw new Error('not requested');
    },
    async datesDueBefore(dueBefore, { after = 0 } = {}) {
      requested.push(dueBefore);
      const open = planned.filter(({ profileId }) => !started.includes(profileId));
      return open
        .filter(({ profileId, scheduledTime }) => profileId > after && scheduledTime <= dueBefore)
        .slice(0, PAGE);
    },
    expectedSchedules: async () => new Map(),
  };
  const list = async function* ({ query }: { query: string }) {
    expect(query).toBe('TemporalSchedulePaused = true');
    lists += 1;
    for (const id of paused) yield { scheduleId: `usg/${id}` };
    yield { scheduleId: 'script/1' };
  };
  const round = dueRunsPoll({
    client: { schedule: { list } } as unknown as Client,
    kinds: new Map([['usg', kind]]),
    clock: { now: () => now },
    logger: createLogger({ level: 'silent', role: 'test' }),
    isLeader: () => isLeader,
  });
  const wait = (seconds: number) => {
    now = new Date(now.getTime() + seconds * 1000);
  };
  return { round, started, sizes, requested, lists: () => lists, wait };
}

interface Setup {
  due: number;
  old?: number;
  paused?: number[];
  failing?: number[];
  tooSoon?: number[];
  isLeader?: boolean;
  at?: Date;
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe('due runs', () => {
  it('are left to the server as long as they are few', async () => {
    const { round, started, requested, lists } = aRound({ due: 49 });
    expect(await round()).toBe(false);
    expect(requested).toEqual([new Date('2026-05-04T02:11:11Z')]);
    expect([started, lists()]).toEqual([[], 0]);
  });

  it('are started however few, once the server should have', async () => {
    const { round, started, wait } = aRound({ due: 2, old: 1 });
    wait(5);
    expect(await round()).toBe(false);
    expect(started).toEqual([1, 2]);
  });

  it('are started together when there are many, but for those that an operator paused', async () => {
    const { round, started, sizes } = aRound({ due: 60, paused: [7, 60] });
    expect(await round()).toBe(false);
    expect(started).toEqual(numbers(60).filter((id) => id !== 7 && id !== 60));
    expect(sizes).toEqual([58]);
  });

  it('are awaited when there will be many, and start at their moment by the clock of the worker', async () => {
    const { round, started, wait } = aRound({ due: 60, at: new Date(NOW.getTime() + 1_500) });
    expect(await round()).toBe(1_500);
    // The clock was stepped back meanwhile, then forward.
    wait(-1);
    expect(await round()).toBe(2_500);
    expect(started).toEqual([]);
    wait(3);
    await round();
    expect(started).toEqual(numbers(60));
  });

  it('are started even though some of them cannot be', async () => {
    const { round, started, lists } = aRound({ due: 400, failing: [1, 25, 399] });
    await round();
    expect(started).toHaveLength(397);
    expect(lists()).toBe(1);
  });

  it('are left to the reconciler when they are older: the database may be a restored one', async () => {
    const { round, started } = aRound({ due: 49, old: 100 });
    await round();
    expect(started).toEqual([]);
    const both = aRound({ due: 50, old: 100 });
    await both.round();
    expect(both.started).toEqual(numbers(50));
  });

  it('are started to the last one', async () => {
    const { round, started, lists } = aRound({ due: 2 * PAGE + 10 });
    expect(await round()).toBe(false);
    expect(started).toEqual(numbers(2 * PAGE + 10));
    expect(lists()).toBe(1);
  });

  it('are each tried once in a poll', async () => {
    for (const setup of [{ failing: numbers(60) }, { tooSoon: numbers(60) }]) {
      const { round, started, lists } = aRound({ due: 60, ...setup });
      expect(await round()).toBe(false);
      expect([started, lists()]).toEqual([[], 1]);
    }
  });

  it('are handled by the leading dispatcher only', async () => {
    const { round, started, requested } = aRound({ due: 500, isLeader: false });
    await round();
    expect([started, requested]).toEqual([[], []]);
  });
});
