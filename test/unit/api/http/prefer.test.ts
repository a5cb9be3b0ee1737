import { describe, expect, it } from 'vitest';
import { preferredWait } from '../../../../src/api/http/middleware/prefer.ts';

describe('preferredWait', () => {
  it.each<[string | undefined, number | null]>([
    ['wait=30', 30],
    ['respond-async, wait=30', 30],
    ['WAIT = "5" ; foo=bar, return=minimal', 5],
    ['wait=10, wait=20', 10],
    ['wait=3600', 60],
    ['handling="x, wait=9", wait=7', 7],
    ['handling="x, wait=9"', null],
    ['wait=0', null],
    ['wait=-1', null],
    ['wait=1.5', null],
    ['wait=soon', null],
    ['wait', null],
    ['await=5', null],
    ['', null],
    [undefined, null],
  ])('%s', (header, expected) => {
    expect(preferredWait(header)).toBe(expected);
  });
});
