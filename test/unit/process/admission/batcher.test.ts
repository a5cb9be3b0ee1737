import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Batcher } from '../../../../src/process/admission/batcher.ts';

const LIMITS = { size: 3, concurrency: 1, maxQueued: 5 };

function held() {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('Batcher', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('runs a lone call at once, and gathers those that follow it closely until a batch is full', async () => {
    const batches: number[][] = [];
    const run = async (items: number[]) => {
      batches.push(items);
      return items;
    };
    const batcher = new Batcher(run, { ...LIMITS, gatherMs: 10 });
    await batcher.call('a', 0);
    expect(batches.splice(0)).toEqual([[0]]);
    await nextTurn();
    const calls = [batcher.call('a', 1), batcher.call('a', 2)];
    vi.advanceTimersByTime(9);
    expect(batches).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([[1, 2]]);
    await Promise.all(calls);
    await nextTurn();
    const more = [3, 4, 5, 6].map((item) => batcher.call('a', item));
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    expect(await Promise.all(more)).toEqual([3, 4, 5, 6]);
  });

  it('runs a lone call at once and gathers those that come meanwhile', async () => {
    const { until, release } = held();
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>(async (items) => {
      batches.push(items);
      if (batches.length === 1) await until;
      return items.map((item) => item * 2);
    }, LIMITS);
    const calls = [1, 2, 3, 4, 5].map((item) => batcher.call('a', item));
    release();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('gathers while a batch runs, also where another could run beside it', async () => {
    const { until, release } = held();
    const batches: number[][] = [];
    const run = async (items: number[]) => {
      batches.push(items);
      if (batches.length === 1) await until;
      return items;
    };
    const batcher = new Batcher(run, { ...LIMITS, concurrency: 2, gatherMs: 10 });
    const calls = [batcher.call('a', 0)];
    vi.advanceTimersByTime(60);
    calls.push(batcher.call('a', 1));
    vi.advanceTimersByTime(9);
    calls.push(batcher.call('a', 2));
    expect(batches).toEqual([[0]]);
    vi.advanceTimersByTime(1);
    expect(batches).toEqual([[0], [1, 2]]);
    release();
    expect(await Promise.all(calls)).toEqual([0, 1, 2]);
  });

  it('lets those that wait take turns', async () => {
    const { until, release } = held();
    const batches: string[][] = [];
    const run = async (items: string[]) => {
      batches.push(items);
      if (batches.length === 1) await until;
      return items;
    };
    const batcher = new Batcher<string, string>(run, { ...LIMITS, maxQueued: 10 });
    const calls = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((item) => batcher.call(item[0]!, item));
    release();
    await Promise.all(calls);
    expect(batches).toEqual([['a1'], ['a2', 'b1', 'a3'], ['a4', 'a5']]);
  });

  it('fails one call alone, all when the batch fails, and those beyond the bound', async () => {
    const batcher = new Batcher<number, number>(async (items) => {
      if (items.includes(0)) throw new Error('all');
      return items.map((item) => (item < 0 ? new Error('one') : item));
    }, LIMITS);
    const calls = [1, -1, 2, 3, 0, 4, 5].map((item) => batcher.call('a', item));
    const outcomes = (await Promise.allSettled(calls)).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason.message),
    );
    expect(outcomes).toEqual([1, 'one', 2, 3, 'all', 'all', 'too many calls are waiting']);
    expect(await batcher.call('a', 7)).toBe(7);
  });
});
