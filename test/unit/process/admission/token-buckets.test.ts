import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../../../src/process/admission/token-buckets.ts';

describe('TokenBuckets', () => {
  it('gives a burst, then so much a second, to each key', () => {
    const buckets = new TokenBuckets({ burst: 2, perSecond: 1, maxKeys: 10 });
    expect([1, 1, 1].map((cost) => buckets.take('a', cost, 0))).toEqual([0, 0, 1]);
    expect(buckets.take('b', 2, 0)).toBe(0);
    expect(buckets.take('a', 1, 750)).toBe(0.25);
    expect(buckets.take('a', 1, 2000)).toBe(0);
    expect([1, 1].map((cost) => buckets.take('a', cost, -5000))).toEqual([0, 1]);
    expect(buckets.take('a', 1, 2500)).toBe(0.5);
  });

  it('reports how long to wait without taking', () => {
    const buckets = new TokenBuckets({ burst: 1, perSecond: 2, maxKeys: 10 });
    expect([buckets.wait('a', 1, 0), buckets.wait('a', 1, 0), buckets.size]).toEqual([0, 0, 0]);
    buckets.take('a', 1, 0);
    expect(buckets.wait('a', 1, 0)).toBe(0.5);
  });

  it('remembers a bounded number of keys, the latest used', () => {
    const buckets = new TokenBuckets({ burst: 1, perSecond: 1, maxKeys: 100 });
    for (let i = 0; i < 100_000; i++) buckets.take(`address ${i}`, 1, 0);
    expect(buckets.size).toBe(100);
    expect(buckets.take('address 99999', 1, 0)).toBe(1);
    expect(buckets.take('address 1', 1, 0)).toBe(0);
  });
});
