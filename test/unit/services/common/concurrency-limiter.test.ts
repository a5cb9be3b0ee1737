import { describe, expect, it } from 'vitest';
import { ConcurrencyLimiter } from '../../../../src/services/common/concurrency-limiter.ts';
import { FairQueue } from '../../../../src/services/common/fair-queue.ts';

const LIMITS = { concurrency: 3, concurrencyPerKey: 2, maxQueued: 100, maxQueuedPerKey: 100 };

/** A task that ends when told to. */
function held() {
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { task: () => until, end };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('FairQueue', () => {
  it('lets keys take turns, first in first out in each', () => {
    const queue = new FairQueue<number>();
    for (let i = 1; i <= 3000; i++) queue.push('big', i);
    queue.push('small', -1);
    queue.push('small', -2);
    const taken = Array.from({ length: 5 }, () => queue.next()!.item);
    expect(taken).toEqual([1, -1, 2, -2, 3]);
    const rest = Array.from({ length: 2997 }, () => queue.next()!.item);
    expect(rest).toEqual(Array.from({ length: 2997 }, (_, i) => i + 4));
    expect([queue.next(), queue.length]).toEqual([undefined, 0]);
  });

  it('passes over keys that may not go', () => {
    const queue = new FairQueue<number>();
    queue.push('a', 1);
    queue.push('b', 2);
    expect(queue.next((key) => key !== 'a')).toEqual({ key: 'b', item: 2 });
    expect(queue.next((key) => key !== 'a')).toBeUndefined();
    expect(queue.lengthOf('a')).toBe(1);
  });
});

describe('ConcurrencyLimiter', () => {
  it('keeps a slot free for others however much one key requests', async () => {
    const limiter = new ConcurrencyLimiter(LIMITS);
    const big = Array.from({ length: 10 }, held);
    const runs = big.map(({ task }) => limiter.run('big', task));
    expect(limiter.queued).toBe(8);
    expect(await limiter.run('small', async () => 'at once')).toBe('at once');
    for (const { end } of big) end();
    await Promise.all(runs);
    expect(limiter.queued).toBe(0);
  });

  it('lets waiting keys take turns', async () => {
    const limiter = new ConcurrencyLimiter({ ...LIMITS, concurrency: 1, concurrencyPerKey: 1 });
    const first = held();
    const order: string[] = [];
    const run = (key: string, name: string) => limiter.run(key, async () => void order.push(name));
    const runs = [limiter.run('a', first.task), run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')];
    first.end();
    await Promise.all(runs);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('rejects the task after the n-th that waits, of all and of one key', async () => {
    const limiter = new ConcurrencyLimiter({ concurrency: 1, concurrencyPerKey: 1, maxQueued: 3, maxQueuedPerKey: 2 });
    const first = held();
    const runs = [limiter.run('a', first.task), limiter.run('a', first.task), limiter.run('a', first.task)];
    await expect(limiter.run('a', first.task)).rejects.toThrow('too many');
    runs.push(limiter.run('b', first.task));
    await expect(limiter.run('c', first.task)).rejects.toThrow('too many');
    first.end();
    await Promise.all(runs);
    expect(await limiter.run('c', async () => 1)).toBe(1);
  });

  it('does not begin what waited too long, and hands its slot on', async () => {
    const limiter = new ConcurrencyLimiter({ ...LIMITS, concurrency: 1, concurrencyPerKey: 1, queueTimeoutMs: 0 });
    const first = held();
    let started = false;
    const running = limiter.run('a', first.task);
    const late = limiter.run('b', async () => {
      started = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    first.end();
    await running;
    await expect(late).rejects.toThrow('too long');
    expect([started, await limiter.run('b', async () => 2)]).toEqual([false, 2]);
  });

  it('frees the slot of a task that fails', async () => {
    const limiter = new ConcurrencyLimiter({ ...LIMITS, concurrency: 1, concurrencyPerKey: 1 });
    await expect(limiter.run('a', () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    await settle();
    expect(await limiter.run('a', async () => 3)).toBe(3);
  });
});
