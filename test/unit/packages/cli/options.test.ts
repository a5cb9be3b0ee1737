import { describe, expect, it } from 'vitest';
import { deliveryOf, parseDuration, parseId, parseIds, parseMoment } from '../../../../packages/cli/src/options.ts';

describe('ids', () => {
  it('are positive whole numbers, each once', () => {
    expect(parseId('2147483647')).toBe(2_147_483_647);
    expect(parseIds('3, 4,3')).toEqual([3, 4]);
  });

  it.each(['0', '-1', '01', '1.5', 'web', '', '2147483648', '1e3'])('are not %j', (text) => {
    expect(() => parseId(text)).toThrow('is not an id');
  });

  it('are not empty lists', () => {
    expect(() => parseIds('3,')).toThrow('is not an id');
  });
});

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
  ])('%s are %i ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each(['10', 'm', '1.5h', '-5m', '10 m', '1w'])('are not %j', (text) => {
    expect(() => parseDuration(text)).toThrow('is not a duration');
  });
});

describe('moments', () => {
  it('are passed on to the server as they are', () => {
    expect(parseMoment('2036-05-04T22:00:00+02:00')).toBe('2036-05-04T22:00:00+02:00');
  });

  it('may be durations from now', () => {
    const before = Date.now();
    const moment = parseMoment('2h');
    expect(moment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(moment)).toBeGreaterThan(before + 7_200_000 - 1001);
    expect(Date.parse(moment)).toBeLessThanOrEqual(Date.now() + 7_200_000);
  });

  it('are not other numbers with a letter', () => {
    expect(() => parseMoment('2y')).toThrow('is not a duration');
  });
});

it('delivery is only sent where it is requested, its window in whole minutes', () => {
  expect(deliveryOf({})).toEqual({});
  expect(deliveryOf({ deliverAfter: '2036-05-04', spread: 90_000, after: 7 })).toEqual({
    deliver_after: '2036-05-04',
    deliver_delay_window: 2,
    after: 7,
  });
});
