import { describe, expect, it } from 'vitest';
import { FairGate } from '../../../../src/services/common/fair-gate.ts';
import { FairQueue } from '../../../../src/services/common/fair-queue.ts';

const LIMITS = { width: 3, share: 2, waiting: 100, waitingPerKey: 100 };

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
    const taken = Array.from({ length: 5 }, () => queue.take()!.item);
    expect(taken).toEqual([1, -1, 2, -2, 3]);
    const rest = Array.from({ length: 2997 }, () => queue.take()!.item);
    expect(rest).toEqual(Array.from({ length: 2997 }, (_, i) => i + 4));
    expect([queue.take(), queue.length]).toEqual([undefined, 0]);
  });

  it('passes over keys that may not go', () => {
    const queue = new FairQueue<number>();
    queue.push('a', 1);
    queue.push('b', 2);
    expect(queue.take((key) => key !== 'a')).toEqual({ key: 'b', item: 2 });
    expect(queue.take((key) => key !== 'a')).toBeUndefined();
    expect(queue.lengthOf('a')).toBe(1);
  });
});

describe('FairGate', () => {
  it('keeps a place free for others however much one key asks for', async () => {
    const gate = new FairGate(LIMITS);
    const big = Array.from({ length: 10 }, held);
    const runs = big.map(({ task }) => gate.run('big', task));
    expect(gate.waiting).toBe(8);
    expect(await gate.run('small', async () => 'at once')).toBe('at once');
    for (const { end } of big) end();
    await Promise.all(runs);
    expect(gate.waiting).toBe(0);
  });

  it('lets waiting keys take turns', async () => {
    const gate = new FairGate({ ...LIMITS, width: 1, share: 1 });
    const first = held();
    const order: string[] = [];
    const run = (key: string, name: string) => gate.run(key, async () => void order.push(name));
    const runs = [gate.run('a', first.task), run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1')];
    first.end();
    await Promise.all(runs);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('refuses the task after the n-th that waits, of all and of one key', async () => {
    const gate = new FairGate({ width: 1, share: 1, waiting: 3, waitingPerKey: 2 });
    const first = held();
    const runs = [gate.run('a', first.task), gate.run('a', first.task), gate.run('a', first.task)];
    await expect(gate.run('a', first.task)).rejects.toThrow('too many');
    runs.push(gate.run('b', first.task));
    await expect(gate.run('c', first.task)).rejects.toThrow('too many');
    first.end();
    await Promise.all(runs);
    expect(await gate.run('c', async () => 1)).toBe(1);
  });

  it('does not begin what waited too long, and gives its place on', async () => {
    const gate = new FairGate({ ...LIMITS, width: 1, share: 1, patienceMs: 0 });
    const first = held();
    let begun = false;
    const running = gate.run('a', first.task);
    const late = gate.run('b', async () => {
      begun = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    first.end();
    await running;
    await expect(late).rejects.toThrow('too long');
    expect([begun, await gate.run('b', async () => 2)]).toEqual([false, 2]);
  });

  it('frees the place of a task that fails', async () => {
    const gate = new FairGate({ ...LIMITS, width: 1, share: 1 });
    await expect(gate.run('a', () => Promise.reject(new Error('x')))).rejects.toThrow('x');
    await settle();
    expect(await gate.run('a', async () => 3)).toBe(3);
  });
});
