import { describe, expect, it } from 'vitest';
import { noiseOf } from '../../tools/bench/harness/report.ts';
import type { Usage } from '../../tools/bench/harness/usage.ts';

const window = (wallMs: number, foreignShare: number): Usage => ({
  wallMs,
  foreignShare,
  stealShare: foreignShare / 2,
  loadAverage: 1 + foreignShare,
  roles: {},
});

describe('the noise of a benchmark', () => {
  it('is that of the worst window that is long enough', () => {
    const noise = noiseOf([window(6000, 0.01), window(6000, 0.2), window(6000, 0.05)]);
    expect(noise.foreignShare).toBeCloseTo(0.2);
    expect(noise.stealShare).toBeCloseTo(0.1);
    expect(noise.loadAverage).toBeCloseTo(1.2);
  });

  it('takes short windows together, each by its length', () => {
    const short = Array.from({ length: 10 }, (_, i) => window(500, i === 3 ? 0.4 : 0.02));
    expect(noiseOf(short).foreignShare).toBeCloseTo((0.4 + 9 * 0.02) / 10);
    expect(noiseOf([window(4000, 0), window(1000, 0.5), window(5000, 0)]).foreignShare).toBeCloseTo(0.1);
    expect(noiseOf([window(1000, 0.5), window(60_000, 0)]).foreignShare).toBeCloseTo(0.5);
  });

  it('does not thin a busy stretch with a quiet one after it', () => {
    expect(
      noiseOf([...Array.from({ length: 10 }, () => window(500, 0.3)), window(60_000, 0)]).foreignShare,
    ).toBeCloseTo(0.3);
  });

  it('is none without windows', () => {
    expect(noiseOf([])).toEqual({ foreignShare: 0, stealShare: 0, loadAverage: 0 });
  });
});
