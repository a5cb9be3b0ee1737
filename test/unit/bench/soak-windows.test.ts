import { describe, expect, it } from 'vitest';
import { processName } from '../../bench/load/agents-at-work.ts';
import { hourlyPercent } from '../../bench/sets/soak-windows.ts';

describe('hourlyPercent', () => {
  it('carries a trend on to an hour, in percent of the mean', () => {
    const points = [0, 0.25, 0.5].map((hours) => ({ hours, value: 200 + 40 * hours }));
    expect(hourlyPercent(points)).toBeCloseTo((40 / 210) * 100);
    expect(hourlyPercent(points.map(({ hours }) => ({ hours, value: 5 })))).toBeCloseTo(0);
  });
});

describe('processName', () => {
  it('fills a message and keeps the mark that tells it from others', () => {
    expect(processName(1000, '7')).toHaveLength(810);
    expect(processName(1000, '7').startsWith('7x')).toBe(true);
    expect(processName(10, 'long mark')).toBe('long mark');
  });
});
