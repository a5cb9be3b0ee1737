import { describe, expect, it } from 'vitest';
import { formatTime } from '../../../../src/api/common/time.ts';
import fc from '../../../support/common/random.ts';

describe('times of the API', () => {
  it.each([
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59Z'],
    ['0044-03-15T12:00:00.000Z', '0044-03-15T12:00:00Z'],
    ['+012026-11-22T04:05:06.000Z', '+012026-11-22T04:05:06Z'],
  ])('of %s have whole seconds', (instant, shown) => {
    expect(formatTime(new Date(instant))).toBe(shown);
  });

  it('are formatted by the calendar', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (instant) => {
        expect(formatTime(instant)).toBe(`${instant.toISOString().split('.')[0]}Z`);
      }),
    );
  });

  it('may be null', () => {
    expect(formatTime(null)).toBeNull();
  });
});
