import { describe, expect, it } from 'vitest';
import { interleave } from '../../tools/bench/harness/rounds.ts';

describe('interleave', () => {
  it('alternates the sides, lets each start in turn and drops warm-ups', async () => {
    const order: string[] = [];
    let serial = 0;
    const side = (name: string) => async () => {
      order.push(name);
      return serial++;
    };
    const results = await interleave<number, { a: () => Promise<number>; b: () => Promise<number> }>(
      { a: side('a'), b: side('b') },
      { rounds: 2, warmUps: 1 },
    );
    expect(order).toEqual(['a', 'b', 'b', 'a', 'a', 'b']);
    expect(results).toEqual({ a: [3, 4], b: [2, 5] });
  });
});
