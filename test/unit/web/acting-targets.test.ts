import { describe, expect, it } from 'vitest';
import { formatIds, parseIds, searchOf, targetsOf } from '../../../web/src/acting/targets.ts';

describe('computers in a URL', () => {
  it('are read back as they were written', () => {
    const many = Array.from({ length: 2000 }, (_, index) => index * 2 + (index > 1000 ? -1000 : 0) + 1);
    for (const ids of [[7], [3, 1, 2], many, Array.from({ length: 5000 }, (_, index) => index + 10)]) {
      const chosen = targetsOf(searchOf({ ids }));
      expect(chosen && 'ids' in chosen && chosen.ids.toSorted((a, b) => a - b)).toEqual(
        [...new Set(ids)].toSorted((a, b) => a - b),
      );
    }
    expect(targetsOf(searchOf({ query: 'tag:web OR id:3' }))).toEqual({ query: 'tag:web OR id:3' });
    expect(targetsOf({})).toBeNull();
  });

  it('are written with ranges when they are many', () => {
    expect(formatIds([3, 1, 2])).toBe('3,1,2');
    expect(formatIds(Array.from({ length: 5000 }, (_, index) => index + 10))).toBe('10-5009');
  });

  it('are ids, whatever else the text has', () => {
    expect(parseIds('1, 2,2,x,-3,0,1.5,9-7,4-6')).toEqual([1, 2, 4, 5, 6]);
    expect(parseIds('1-999999999')).toHaveLength(100_000);
  });
});
