import { describe, expect, it } from 'vitest';
import { classify } from '../../tools/bench/harness/verdict.ts';

const least = { kind: 'least', first: 10, goal: 40 } as const;
const most = { kind: 'most', first: 250, goal: 30 } as const;

describe('classify', () => {
  it('counts the bound itself as reached', () => {
    expect([9.9, 10, 39, 40].map((v) => classify(v, least, 0))).toEqual(['missed', 'met', 'met', 'goal met']);
    expect([251, 250, 31, 30].map((v) => classify(v, most, 0))).toEqual(['missed', 'met', 'met', 'goal met']);
  });

  it('gives no verdict on a noisy machine or without a figure', () => {
    expect(classify(100, least, 0.11)).toBe('not judged');
    expect(classify(Number.NaN, least, 0)).toBe('not judged');
  });
});
