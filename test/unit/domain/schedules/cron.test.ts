import { describe, expect, it } from 'vitest';
import { parseCron } from '../../../../src/domain/schedules/cron.ts';
import { nextZonedDates } from '../../../../src/domain/schedules/zoned-dates.ts';
import { nextCronDate, zonedCalendars } from '../../../../src/services/schedules/cron-dates.ts';

const plain = (text: string) => {
  const cron = parseCron(text);
  if ('problem' in cron) return cron.problem;
  const { minutes, hours, daysOfMonth, months, daysOfWeek } = cron;
  const lists = [minutes, hours, daysOfMonth, months.length === 12 ? null : months, daysOfWeek];
  return lists.map((values) => values?.join(',') ?? '*').join(' ');
};

describe('parseCron', () => {
  it.each([
    ['0 0 * * *', '0 0 * * *'],
    ['  5   4\t* * sun ', '5 4 * * 0'],
    ['*/20 */8 * * *', '0,20,40 0,8,16 * * *'],
    ['5/25 0 * * *', '5,30,55 0 * * *'],
    ['0 0 1 jan,Mar-MAY *', '0 0 1 1,3,4,5 *'],
    ['0 0 * * fri-7', '0 0 * * 0,5,6'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['0 0 * * 1-5/2', '0 0 * * 1,3,5'],
    ['0 0 */1 * 1', '0 0 * * 1'],
    ['0 0 31 2 1', '0 0 31 2 1'],
    ['0 0 29 2 *', '0 0 29 2 *'],
  ])('reads %j as %j', (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it.each([
    '',
    '* * * *',
    '5 4',
    '0 0 0 * * *',
    '* * * * * *',
    '@daily',
    '@every 1h',
    'TZ=UTC 0 0 * * *',
    'CRON_TZ=UTC 0 0 * * *',
    '*/0 * * * *',
    '0/0 * * * *',
    '0-10/0 * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 0 0 * *',
    '0 0 32 * *',
    '0 0 * 0 *',
    '0 0 * 13 *',
    '0 0 * * 8',
    '0 0 31 2 *',
    '0 0 30 feb *',
    '0 0 31 4,6,9,11 *',
    '5-1 * * * *',
    '0 0 * * fri-mon',
    '0 0 L * *',
    '0 0 * * 1#2',
    '0 0 ? * 1',
    'H 0 * * *',
    '1.5 0 * * *',
    '-1 0 * * *',
    '1,,2 0 * * *',
    ',1 0 * * *',
    '1- 0 * * *',
    '0 0 * january *',
    'mon 0 * * *',
    '٣ 0 * * *',
    '0\n0 * * *',
    `0 0 1 1 ${'1,'.repeat(200)}1`,
  ])('CRON-bad: rejects %j', (text) => {
    expect(parseCron(text)).toEqual({ problem: expect.any(String) });
  });
});

describe('dates of cron text', () => {
  const from = new Date('2026-11-21T12:00:00Z');
  const dates = (text: string, limit = 3) =>
    nextZonedDates(zonedCalendars({ interval: text, timezone: 'UTC' }), from, limit).map((date) => date.toISOString());

  it('starts strictly after the time', () => {
    expect(dates('0 12 * * *', 1)).toEqual(['2026-11-22T12:00:00.000Z']);
  });

  it('takes either kind of day when both are restricted', () => {
    expect(dates('0 0 13 * fri')).toEqual([
      '2026-11-27T00:00:00.000Z',
      '2026-12-04T00:00:00.000Z',
      '2026-12-11T00:00:00.000Z',
    ]);
    expect(dates('0 0 31 2 mon', 1)).toEqual(['2027-02-01T00:00:00.000Z']);
  });

  it('ends with the year 2099, also for leap days', () => {
    const leapDays = dates('0 0 29 2 *', 100);
    expect(leapDays).toHaveLength(18);
    expect(leapDays.at(-1)).toBe('2096-02-29T00:00:00.000Z');
    expect(nextCronDate({ interval: '0 0 * * *', timezone: 'UTC' }, new Date('2100-01-01T00:00:00Z'))).toBeNull();
  });

  it('remembers the next date as long as it is ahead', () => {
    const next = (at: string) => nextCronDate({ interval: '15 3 * * *', timezone: 'UTC' }, new Date(at))?.toISOString();
    expect(next('2026-11-21T03:14:59Z')).toBe('2026-11-21T03:15:00.000Z');
    expect(next('2026-11-21T03:15:00Z')).toBe('2026-11-22T03:15:00.000Z');
    expect(next('2026-11-21T20:00:00Z')).toBe('2026-11-22T03:15:00.000Z');
    expect(next('2026-11-20T00:00:00Z')).toBe('2026-11-20T03:15:00.000Z');
  });
});
