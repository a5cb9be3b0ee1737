import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConcurrencyLimiter } from '../../../../src/process/admission/concurrency-limiter.ts';

const LIMITS = { concurrency: 3, concurrencyPerKey: 2, maxQueued: 100, maxQueuedPerKey: 100 };

/** A task that ends on request. */
function held() {
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { task: () => until, end };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

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
    expect(order).toEqual(['b1', 'a1', 'a2', 'a3']);
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

  it('does not start what waited too long, and hands its slot on', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const limiter = new ConcurrencyLimiter({ ...LIMITS, concurrency: 1, concurrencyPerKey: 1, queueTimeoutMs: 0 });
    const first = held();
    let started = false;
    const running = limiter.run('a', first.task);
    const late = limiter.run('b', async () => {
      started = true;
    });
    vi.advanceTimersByTime(5);
    first.end();
    await running;
    await expect(late).rejects.toThrow('too long');
    expect([started, await limiter.run('b', async () => 2)]).toEqual([false, 2]);
  });

  it('frees the slot of a task that fails', async () => {
    const limiter = new ConcurrencyLimiter({ ...LIMITS, concurrency: 1, concurrencyPerKey: 1 });
    await expect(limiter.run('a', () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    await nextTurn();
    expect(await limiter.run('a', async () => 3)).toBe(3);
  });

  it('runs tasks of one key one after another, failures included, and others beside them', async () => {
    const limiter = new ConcurrencyLimiter({ concurrencyPerKey: 1 });
    const events: string[] = [];
    const { task: until, end } = held();
    const first = limiter.run('a', async () => {
      await until();
      events.push('a1');
      throw new Error('a1');
    });
    const second = limiter.run('a', async () => void events.push('a2'));
    await limiter.run('b', async () => void events.push('b'));
    end();
    await expect(first).rejects.toThrow('a1');
    await second;
    expect(events).toEqual(['b', 'a1', 'a2']);
  });

  it('rejects with the error that its owner chose', async () => {
    const limiter = new ConcurrencyLimiter({ concurrency: 1, maxQueued: 0 }, (reason) => new TypeError(reason));
    const { task, end } = held();
    const running = limiter.run('a', task);
    await expect(limiter.run('a', task)).rejects.toThrow(TypeError);
    end();
    await running;
  });
});
