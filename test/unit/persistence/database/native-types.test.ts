import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { NATIVE_TYPES } from '../../../../src/persistence/database/native-types.ts';
import { createRandom } from '../../../../tools/simulator/random.ts';
import { SEED } from '../../../support/common/random.ts';

const TIMESTAMPTZ = 1184;
const parsed = (oid: number, text: string): unknown => NATIVE_TYPES.getTypeParser(oid, 'text')(text);

describe('values of PostgreSQL', () => {
  it.each([
    ['2026-11-22 04:05:06+00', '2026-11-22T04:05:06.000Z'],
    ['2026-11-22 04:05:06.7+00', '2026-11-22T04:05:06.700Z'],
    ['2026-11-22 04:05:06.123999+00', '2026-11-22T04:05:06.123Z'],
    ['2024-02-29 23:59:59.999999+00', '2024-02-29T23:59:59.999Z'],
    ['1969-12-31 23:59:59+00', '1969-12-31T23:59:59.000Z'],
    ['0044-03-15 12:00:00+00', '0044-03-15T12:00:00.000Z'],
    ['2026-11-22 04:05:06+02', '2026-11-22T02:05:06.000Z'],
    ['2026-11-22 04:05:06.5-03:30', '2026-11-22T07:35:06.500Z'],
    ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
    ['12026-11-22 04:05:06+00', '+012026-11-22T04:05:06.000Z'],
  ])('read the moment %s', (text, moment) => {
    expect((parsed(TIMESTAMPTZ, text) as Date).toISOString()).toBe(moment);
  });

  it('leave what is no moment to the driver', () => {
    expect(parsed(TIMESTAMPTZ, 'infinity')).toBe(Number.POSITIVE_INFINITY);
    expect(parsed(TIMESTAMPTZ, '-infinity')).toBe(Number.NEGATIVE_INFINITY);
  });

  it('read moments as the driver does', () => {
    const driver = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date;
    const random = createRandom(SEED, 'moments');
    for (let i = 0; i < 1000; i++) {
      const moment = new Date(random.int(0, 4e12)).toISOString();
      const text = `${moment.slice(0, 10)} ${moment.slice(11, -1)}+00`;
      expect(parsed(TIMESTAMPTZ, text), text).toEqual(driver(text));
    }
  });

  it('read whole numbers as numbers', () => {
    expect(parsed(20, '9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(parsed(23, '-7')).toBe(-7);
  });
});
