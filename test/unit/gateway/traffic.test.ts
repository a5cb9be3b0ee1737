import { describe, expect, it } from 'vitest';
import { Batcher } from '../../../src/gateway/http/batcher.ts';
import { TaskLimiter, SerialQueues } from '../../../src/gateway/http/concurrency.ts';

const LIMITS = { size: 3, concurrency: 1, maxWaiting: 5 };

function held() {
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { until, release };
}

describe('Batcher', () => {
  it('runs a lone call at once and gathers those that come meanwhile', async () => {
    const { until, release } = held();
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>(async (items) => {
      batches.push(items);
      if (batches.length === 1) await until;
      return items.map((item) => ({ value: item * 2 }));
    }, LIMITS);
    const calls = [1, 2, 3, 4, 5].map((item) => batcher.call(item));
    release();
    expect(await Promise.all(calls)).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('lets those that wait take turns', async () => {
    const { until, release } = held();
    const batches: string[][] = [];
    const run = async (items: string[]) => {
      batches.push(items);
      if (batches.length === 1) await until;
      return items.map((value) => ({ value }));
    };
    const batcher = new Batcher<string, string>(run, { ...LIMITS, maxWaiting: 10 }, (item) => item.charCodeAt(0));
    const calls = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((item) => batcher.call(item));
    release();
    await Promise.all(calls);
    expect(batches).toEqual([['a1'], ['a2', 'b1', 'a3'], ['a4', 'a5']]);
  });

  it('fails one call alone, all when the batch fails, and those beyond the bound', async () => {
    const batcher = new Batcher<number, number>(async (items) => {
      if (items.includes(0)) throw new Error('all');
      return items.map((item) => (item < 0 ? { error: new Error('one') } : { value: item }));
    }, LIMITS);
    const calls = [1, -1, 2, 3, 0, 4, 5].map((item) => batcher.call(item));
    const outcomes = (await Promise.allSettled(calls)).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason.message),
    );
    expect(outcomes).toEqual([1, 'one', 2, 3, 'all', 'all', 'Too many at once']);
    expect(await batcher.call(7)).toBe(7);
  });
});

describe('ConcurrencyLimiter', () => {
  it('runs as many tasks as it may, queues the next in order, and rejects more', async () => {
    const limiter = new TaskLimiter(2, 2);
    const order: number[] = [];
    const { until, release } = held();
    const task = (id: number) => () => until.then(() => void order.push(id));
    const tasks = [1, 2, 3, 4].map((id) => limiter.run(task(id)));
    await expect(limiter.run(task(5))).rejects.toMatchObject({ status: 503 });
    release();
    await Promise.all(tasks);
    expect(order).toEqual([1, 2, 3, 4]);
    await expect(limiter.run(() => Promise.reject(new Error('x')))).rejects.toThrow('x');
    expect(await limiter.run(async () => 6)).toBe(6);
  });
});

describe('SerialQueues', () => {
  it('runs tasks of one key one after another, failures included, and others beside them', async () => {
    const queues = new SerialQueues();
    const events: string[] = [];
    const { until, release } = held();
    const first = queues.run('a', async () => {
      await until;
      events.push('a1');
      throw new Error('a1');
    });
    const second = queues.run('a', async () => void events.push('a2'));
    await queues.run('b', async () => void events.push('b'));
    release();
    await expect(first).rejects.toThrow('a1');
    await second;
    expect(events).toEqual(['b', 'a1', 'a2']);
  });
});
