import { describe, expect, it } from 'vitest';
import { BoundedQueue } from '../../../../src/services/common/bounded-queue.ts';

const refusal = () => new Error('too much at once');

describe('BoundedQueue', () => {
  it('runs no more than its width at once, in order of arrival, and refuses what is beyond', async () => {
    const queue = new BoundedQueue({ concurrency: 2, maxWaiting: 3, refusal });
    const started: number[] = [];
    const releases: Array<() => void> = [];
    const work = (n: number) =>
      queue.run(async () => {
        started.push(n);
        await new Promise<void>((resolve) => releases.push(resolve));
        return n;
      });
    const runs = [1, 2, 3, 4, 5].map(work);
    await expect(work(6)).rejects.toThrow('too much at once');
    expect(started).toEqual([1, 2]);
    while (started.length < 5 || releases.length > 0) {
      releases.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(runs)).toEqual([1, 2, 3, 4, 5]);
    expect(started).toEqual([1, 2, 3, 4, 5]);
  });

  it('frees its place after a failure', async () => {
    const queue = new BoundedQueue({ concurrency: 1, maxWaiting: 0, refusal });
    const failing = queue.run(() => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await queue.run(async () => 'yes')).toBe('yes');
  });
});
