import { describe, expect, it } from 'vitest';
import {
  describeCron,
  fromCron,
  isFilled as isCronFilled,
  NIGHTLY,
  toCron,
} from '../../../web/src/pages/profiles/cron.ts';
import {
  describeRule,
  fromRule,
  isFilled as isRuleFilled,
  toRule,
  WEEKLY,
} from '../../../web/src/pages/profiles/recurrence.ts';
import { timeText } from '../../../web/src/ui/times/time-text.ts';
import { BROWSER_ZONE, isZone, toLocal, toUtc, zoneOf } from '../../../web/src/ui/times/zone.ts';

describe('recurrence rules', () => {
  it.each([
    ['FREQ=WEEKLY;BYDAY=MO', 'Every week on Monday'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=SU', 'Every 2 weeks on Sunday'],
    ['FREQ=MONTHLY;BYDAY=1MO', 'Every month on the first Monday'],
    ['FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR', 'Every 3 months on the last Friday'],
    ['FREQ=MONTHLY;BYMONTHDAY=15', 'Every month on day 15'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'Every month on the last day'],
    ['FREQ=WEEKLY;BYDAY=TU;COUNT=4', 'Every week on Tuesday, 4 times'],
    ['FREQ=WEEKLY;BYDAY=TU;UNTIL=20270131', 'Every week on Tuesday, until 2027-01-31'],
  ])('%s is kept by the form and reads: %s', (rule, words) => {
    expect(fromRule(rule).every).not.toBe('custom');
    expect(toRule(fromRule(rule))).toBe(rule);
    expect(describeRule(rule)).toBe(words);
  });

  it.each([
    'FREQ=WEEKLY',
    'FREQ=YEARLY;BYMONTH=3',
    'FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1',
    'FREQ=WEEKLY;BYDAY=MO;BYHOUR=3',
    'FREQ=WEEKLY;BYDAY=MO,TU;INTERVAL=2',
    'FREQ=WEEKLY;BYDAY=MO;UNTIL=20270131T000000Z',
    'nonsense',
  ])('%s stays a text', (rule) => {
    expect(fromRule(rule)).toEqual({ ...WEEKLY, every: 'custom', rule });
    expect(describeRule(rule)).toBe(rule);
  });

  it('takes parts in any order', () => {
    expect(describeRule('BYDAY=MO;FREQ=WEEKLY')).toBe('Every week on Monday');
  });

  it.each([
    [{}, true],
    [{ interval: '' }, false],
    [{ count: '', until: '' }, true],
    [{ ends: 'count', count: '' }, false],
    [{ ends: 'until', until: '' }, false],
    [{ ends: 'until', until: '2027-01-31' }, true],
    [{ every: 'custom', rule: ' ' }, false],
    [{ every: 'custom', rule: 'nonsense', interval: '' }, true],
  ] as const)('with %j are filled: %s', (changes, filled) => {
    expect(isRuleFilled({ ...WEEKLY, ...changes })).toBe(filled);
  });
});

describe('cron fields', () => {
  it.each([
    ['0 2 * * *', 'Every day at 02:00'],
    ['5 * * * *', 'Every hour at minute 5'],
    ['30 */6 * * *', 'Every 6 hours at minute 30'],
    ['15 14 * * 0,3', 'Every Wed, Sun at 14:15'],
    ['0 4 1 * *', 'Every month on day 1 at 04:00'],
  ])('%s is kept by the form and reads: %s', (text, words) => {
    expect(toCron(fromCron(text))).toBe(text);
    expect(describeCron(text)).toBe(words);
  });

  it.each(['0 3 * * mon-fri', '0,30 2 * * *', '0 3 13 * 5', '0 3 * 1 *', 'hourly'])('%s stays a text', (text) => {
    expect(fromCron(text)).toEqual({ ...NIGHTLY, every: 'custom', cron: text });
    expect(describeCron(text)).toBe(text);
  });

  it.each([
    [{}, true],
    [{ time: '' }, false],
    [{ every: 'hours', time: '' }, true],
    [{ every: 'hours', minute: '' }, false],
    [{ every: 'hours', hours: '' }, false],
    [{ every: 'week', time: '' }, false],
    [{ every: 'month', day: '' }, false],
    [{ every: 'custom' }, false],
    [{ every: 'custom', cron: 'x', time: '' }, true],
  ] as const)('with %j are filled: %s', (changes, filled) => {
    expect(isCronFilled({ ...NIGHTLY, ...changes })).toBe(filled);
  });
});

describe('times in a zone', () => {
  const late = new Date('2026-05-04T22:30:00Z');
  const at = (now: string) => ({ zone: 'Europe/Berlin', now: Date.parse(now) });

  it('are shown as a clock there shows them, and with the day unless it is today there', () => {
    expect(timeText(late, 'full', at('2026-05-04T22:31:00Z'))).toMatch(/5.* 12:30:00/);
    expect(timeText(late, 'clock', at('2026-05-05T10:00:00Z'))).not.toContain('5');
    expect(timeText(late, 'clock', at('2026-05-04T21:00:00Z'))).toContain('May 5');
    expect(timeText(late, 'relative', at('2026-06-05T10:00:00Z'))).toContain('May 5');
  });

  it('are those of the browser for whoever has chosen no zone, or one that the browser does not know', () => {
    expect(zoneOf('Asia/Kathmandu')).toBe('Asia/Kathmandu');
    expect(zoneOf('Etc/UTC')).toBe('Etc/UTC');
    expect([undefined, 'UTC', 'Europe/Nowhere'].map(zoneOf)).toEqual([BROWSER_ZONE, BROWSER_ZONE, BROWSER_ZONE]);
  });

  it.each([
    ['2026-05-04T09:30', 'Europe/Berlin', '2026-05-04T07:30:00Z'],
    ['2026-12-04T09:30', 'Europe/Berlin', '2026-12-04T08:30:00Z'],
    ['2026-05-04T09:30', 'Asia/Kathmandu', '2026-05-04T03:45:00Z'],
    ['2026-05-04T09:30', 'UTC', '2026-05-04T09:30:00Z'],
  ])('%s in %s is %s', (local, zone, utc) => {
    expect(toUtc(local, zone)).toBe(utc);
    expect(toLocal(utc, zone)).toBe(local);
  });

  it('takes the first of a time that comes twice, and moves one that clocks skip', () => {
    expect(toUtc('2026-10-25T02:30', 'Europe/Berlin')).toBe('2026-10-25T00:30:00Z');
    expect(toUtc('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00Z');
  });

  it('has no moment for an incomplete time and knows which zones exist', () => {
    expect(toUtc('', 'UTC')).toBeNull();
    expect(toUtc('2026-05-04', 'UTC')).toBe('2026-05-04T00:00:00Z');
    expect([isZone('Europe/Madrid'), isZone('Europe/Nowhere'), isZone('')]).toEqual([true, false, false]);
  });
});
