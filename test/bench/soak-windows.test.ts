import { describe, expect, it } from 'vitest';
import { processName } from '../../tools/bench/load/agents-at-work.ts';
import { hourlyTrend } from '../../tools/bench/rounds/soak-windows.ts';

describe('hourlyTrend', () => {
  it('carries a trend on to an hour, in percent of the mean', () => {
    const points = [0, 0.25, 0.5].map((hours) => ({ hours, value: 200 + 40 * hours }));
    expect(hourlyTrend(points).percent).toBeCloseTo((40 / 210) * 100);
    expect(hourlyTrend(points).error).toBeCloseTo(0);
    expect(hourlyTrend(points.map(({ hours }) => ({ hours, value: 5 }))).percent).toBeCloseTo(0);
  });

  it('reports how much of it may be chance', () => {
    const points = [100, 140, 60, 100].map((value, quarter) => ({ hours: quarter / 4, value }));
    expect(hourlyTrend(points).percent).toBeCloseTo(-32);
    expect(hourlyTrend(points).error).toBeCloseTo(67.88, 1);
  });
});

describe('processName', () => {
  it('fills a message and keeps the mark that distinguishes it from others', () => {
    expect(processName(1000, '7')).toHaveLength(810);
    expect(processName(1000, '7').startsWith('7x')).toBe(true);
    expect(processName(10, 'long mark')).toBe('long mark');
  });
});
