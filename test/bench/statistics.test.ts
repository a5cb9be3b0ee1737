import { describe, expect, it } from 'vitest';
import {
  fittedExponent,
  growthExponent,
  latency,
  linearSlope,
  pairedRatios,
  quantile,
  slopeError,
  summarize,
} from '../../tools/bench/harness/statistics.ts';

describe('quantile', () => {
  it('interpolates between neighbours and does not sort its input in place', () => {
    const samples = [40, 10, 30, 20];
    expect(quantile(samples, 0.5)).toBe(25);
    expect(quantile(samples, 0)).toBe(10);
    expect(quantile(samples, 1)).toBe(40);
    expect(quantile(samples, 0.25)).toBe(17.5);
    expect(samples).toEqual([40, 10, 30, 20]);
  });

  it('sorts by number, not by text', () => {
    expect(quantile([9, 10, 100], 0.5)).toBe(10);
  });

  it('gives the only sample for every share', () => {
    expect([0, 0.3, 1].map((q) => quantile([7], q))).toEqual([7, 7, 7]);
  });

  it('rejects no samples and shares outside 0 to 1', () => {
    expect(() => quantile([], 0.5)).toThrow(RangeError);
    expect(() => quantile([1], 1.1)).toThrow(RangeError);
    expect(() => quantile([1], Number.NaN)).toThrow(RangeError);
  });
});

describe('summarize', () => {
  it('names middle, ends and number of rounds', () => {
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, rounds: 3 });
  });
});

describe('pairedRatios', () => {
  it('divides round by round', () => {
    expect(pairedRatios([10, 30], [5, 10])).toEqual([2, 3]);
  });

  it('rejects rounds without a partner', () => {
    expect(() => pairedRatios([1], [1, 2])).toThrow(RangeError);
  });
});

describe('latency', () => {
  it('is all zero when nothing was requested', () => {
    expect(latency([])).toEqual({ count: 0, p50: 0, p95: 0, p99: 0, max: 0 });
  });

  it('names the usual percentiles', () => {
    const samples = Array.from({ length: 101 }, (_, i) => i);
    expect(latency(samples)).toEqual({ count: 101, p50: 50, p95: 95, p99: 99, max: 100 });
  });
});

describe('growthExponent', () => {
  it('is 1 for linear, 0 for constant and 2 for quadratic growth', () => {
    expect(growthExponent({ size: 1000, cost: 2 }, { size: 10_000, cost: 20 })).toBeCloseTo(1);
    expect(growthExponent({ size: 1000, cost: 2 }, { size: 10_000, cost: 2 })).toBeCloseTo(0);
    expect(growthExponent({ size: 10, cost: 1 }, { size: 100, cost: 100 })).toBeCloseTo(2);
  });

  it('rejects what has no logarithm', () => {
    expect(() => growthExponent({ size: 1, cost: 0 }, { size: 2, cost: 1 })).toThrow(RangeError);
    expect(() => growthExponent({ size: 2, cost: 1 }, { size: 2, cost: 1 })).toThrow(RangeError);
  });
});

describe('linearSlope', () => {
  it('is the slope of the line that comes closest to the points', () => {
    expect(linearSlope([1, 2, 3].map((x) => ({ x, y: 2 * x + 5 })))).toBeCloseTo(2);
    const scattered = [
      { x: 0, y: 1 },
      { x: 1, y: 0 },
      { x: 2, y: 3 },
      { x: 3, y: 2 },
    ];
    expect(linearSlope(scattered)).toBeCloseTo(0.6);
  });

  it('rejects points that make no line', () => {
    expect(() => linearSlope([])).toThrow(RangeError);
    expect(() => linearSlope([{ x: 1, y: 2 }])).toThrow(RangeError);
  });
});

describe('slopeError', () => {
  it('is nothing on a line and grows with what is off it', () => {
    expect(slopeError([1, 2, 3].map((x) => ({ x, y: 2 * x + 5 })))).toBeCloseTo(0);
    const off = (by: number) => [0, by, -by, 0].map((y, x) => ({ x, y }));
    expect(slopeError(off(2))).toBeCloseTo(2 * slopeError(off(1)));
  });

  it('rejects points that leave no error', () => {
    expect(() => slopeError([0, 1].map((x) => ({ x, y: x })))).toThrow(RangeError);
  });
});

describe('fittedExponent', () => {
  const grown = (exponent: number) => [1000, 10_000, 100_000].map((size) => ({ size, cost: 3 * size ** exponent }));

  it('finds the exponent through all sizes', () => {
    for (const exponent of [0, 0.3, 1, 1.1, 2]) expect(fittedExponent(grown(exponent))).toBeCloseTo(exponent);
  });

  it('rejects costs without a logarithm and a single size', () => {
    expect(() => fittedExponent([...grown(1), { size: 5, cost: 0 }])).toThrow(RangeError);
    expect(() => fittedExponent(grown(1).slice(0, 1))).toThrow(RangeError);
  });
});
