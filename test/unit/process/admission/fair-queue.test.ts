import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../../src/process/admission/fair-queue.ts';

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

  it('passes over paused keys, whose items keep waiting', () => {
    const queue = new FairQueue<number>();
    queue.pause('a');
    queue.push('a', 1);
    queue.push('b', 2);
    expect(queue.take()).toEqual({ key: 'b', item: 2 });
    expect([queue.take(), queue.length]).toEqual([undefined, 1]);
    queue.resume('a');
    queue.resume('b');
    expect(queue.take()).toEqual({ key: 'a', item: 1 });
    expect(queue.take()).toBeUndefined();
  });

  it('takes as many items as its limits allow, in all and per key', () => {
    const queue = new FairQueue<number>({ maxQueued: 3, maxQueuedPerKey: 2 });
    const pushed = [queue.push('a', 1), queue.push('a', 2), queue.push('a', 3), queue.push('b', 4), queue.push('c', 5)];
    expect(pushed).toEqual([true, true, false, true, false]);
    queue.take();
    expect([queue.length, queue.push('a', 6), queue.push('c', 7)]).toEqual([2, true, false]);
  });
});
