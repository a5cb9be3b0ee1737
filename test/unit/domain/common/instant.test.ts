import { describe, expect, it } from 'vitest';
import { readDelivery } from '../../../../src/domain/activities/delivery.ts';
import { parseInstant } from '../../../../src/domain/common/instant.ts';
import fc from '../../../support/common/random.ts';

describe('TIME-bad: parsing a moment', () => {
  it.each([
    ['2026-05-04T09:12:40Z', '2026-05-04T09:12:40.000Z'],
    ['2026-05-04T09:12:40', '2026-05-04T09:12:40.000Z'],
    ['2026-05-04T09:12', '2026-05-04T09:12:00.000Z'],
    ['2026-05-04', '2026-05-04T00:00:00.000Z'],
    ['2026-05-04T09:12:40.123456+14:00', '2026-05-03T19:12:40.123Z'],
    ['2026-05-04T09:12:40-0230', '2026-05-04T11:42:40.000Z'],
    ['2024-02-29T00:00:00+01', '2024-02-28T23:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('reads %s', (text, expected) => {
    expect(parseInstant(text)?.toISOString()).toBe(expected);
  });

  it.each([
    '',
    'now',
    '2026-02-30T00:00:00Z',
    '2025-02-29',
    '2026-13-01',
    '2026-00-01',
    '2026-05-04T24:00:00Z',
    '2026-05-04T09:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-05-04T09:12:40+14:01',
    '2026-05-04T09:12:40+01:60',
    '2026-05-04 09:12:40',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '10000-01-01T00:00:00Z',
    '+002026-05-04T09:12:40Z',
    '1795262410',
    ' 2026-05-04',
    '2026-05-04\n',
  ])('rejects %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('reads back whatever Date writes', () => {
    const date = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (moment) => {
        expect(parseInstant(moment.toISOString())).toEqual(moment);
      }),
    );
  });
});

describe('delivery', () => {
  const now = new Date('2026-11-21T12:00:00Z');

  it('must be in the future, strictly', () => {
    expect(() => readDelivery('2026-11-21T12:00:00Z', 0, now, 'body.deliver_after')).toThrow('must be in the future');
    expect(readDelivery('2026-11-21T12:00:01Z', 5, now, 'body.deliver_after')).toEqual({
      deliverAfter: new Date('2026-11-21T12:00:01Z'),
      windowMinutes: 5,
    });
    expect(readDelivery(null, 5, now, 'body.deliver_after')).toEqual({ deliverAfter: null, windowMinutes: 5 });
  });

  it('rejects a moment whose window would leave the calendar', () => {
    expect(() => readDelivery('9999-12-31T23:00:00Z', 1440, now, 'body.deliver_after')).toThrow('ISO 8601');
  });
});
