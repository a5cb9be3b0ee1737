import fc from 'fast-check';
import rrule from 'rrule';
import { describe, expect, it } from 'vitest';
import { isImpossible } from '../../../src/domain/schedule/possible-dates.ts';
import { isProblem, parseRule, type RecurrenceRule } from '../../../src/domain/schedule/recurrence-rule.ts';
import type { Recurrences } from '../../../src/services/ports.ts';
import { createRecurrences } from '../../../src/services/schedule/recurrences.ts';
import { planDates, planRequested } from '../../../src/services/schedule/recurring-dates.ts';
import { naiveOccurrences } from '../../support/naive-recurrence.ts';

const recurrences = createRecurrences(5_000);
const DAY_MS = 86_400_000;

function rule(text: string): RecurrenceRule {
  const parsed = parseRule(text);
  if (isProblem(parsed)) throw new Error(`${text}: ${parsed.message}`);
  return parsed;
}

const numbers = (from: number, to: number, most: number) =>
  fc.uniqueArray(
    fc.integer({ min: from, max: to }).filter((n) => n !== 0),
    { minLength: 1, maxLength: most },
  );
const days = fc.uniqueArray(fc.constantFrom('MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'), { minLength: 1, maxLength: 4 });
const numberedDays = (least: number, most: number) =>
  fc.uniqueArray(
    fc
      .tuple(fc.integer({ min: least, max: most }), fc.constantFrom('MO', 'WE', 'FR', 'SU'))
      .map(([n, day]) => (n === 0 ? day : `${n}${day}`)),
    { minLength: 1, maxLength: 3 },
  );
const maybe = <T>(name: string, values: fc.Arbitrary<T[]>) =>
  fc.option(
    values.map((list) => `;${name}=${list.join(',')}`),
    { nil: '' },
  );
const joined = (...parts: Array<fc.Arbitrary<string>>) => fc.tuple(...parts).map((texts) => texts.join(''));
const interval = (most: number) => fc.integer({ min: 1, max: most }).map((n) => `;INTERVAL=${n}`);
const end = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1, max: 40 }).map((n) => `;COUNT=${n}`),
  fc.integer({ min: 1, max: 700 }).map((n) => {
    const until = new Date(Date.UTC(2026, 5, 1) + n * DAY_MS).toISOString();
    return `;UNTIL=${until.slice(0, 10).replaceAll('-', '')}T235959Z`;
  }),
);
const time = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 0, max: 23 }).map((n) => `;BYHOUR=${n};BYMINUTE=30`),
);
const weekStart = fc.constantFrom('', ';WKST=SU', ';WKST=TH');
const RULES = fc.oneof(
  joined(
    fc.constant('FREQ=WEEKLY'),
    interval(6),
    weekStart,
    maybe('BYDAY', days),
    maybe('BYMONTH', numbers(1, 12, 5)),
    time,
    end,
  ),
  joined(
    fc.constant('FREQ=DAILY'),
    interval(40),
    maybe('BYDAY', days),
    maybe('BYMONTHDAY', numbers(-31, 31, 5)),
    time,
    end,
  ),
  joined(fc.constant('FREQ=MONTHLY'), interval(7), maybe('BYMONTHDAY', numbers(-31, 31, 3)), time, end),
  joined(
    fc.constant('FREQ=MONTHLY'),
    interval(5),
    maybe('BYDAY', numberedDays(-5, 5)),
    maybe('BYMONTH', numbers(1, 12, 6)),
    end,
  ),
  joined(
    fc.constant('FREQ=MONTHLY;BYDAY='),
    days.map((list) => list.join(',')),
    numbers(-4, 4, 2).map((list) => `;BYSETPOS=${list.join(',')}`),
    time,
    end,
  ),
  joined(
    fc.constant('FREQ=YEARLY'),
    interval(2),
    maybe('BYMONTH', numbers(1, 12, 4)),
    maybe('BYMONTHDAY', numbers(-31, 31, 3)),
    end,
  ),
  joined(fc.constant('FREQ=YEARLY'), maybe('BYYEARDAY', numbers(-366, 366, 5)), end),
  joined(fc.constant('FREQ=YEARLY;BYMONTH=2,7,11'), maybe('BYDAY', numberedDays(-4, 4)), end),
  joined(fc.constant('FREQ=YEARLY'), maybe('BYDAY', numberedDays(-20, 20)), end),
  joined(fc.constant('FREQ=YEARLY'), maybe('BYWEEKNO', numbers(-53, 53, 3)), weekStart, end),
  joined(
    fc.constant('FREQ=YEARLY;BYDAY=FR,SU,MO;BYWEEKNO='),
    fc.constantFrom('52', '53', '-1', '1,52', '-53,53', '-52'),
    interval(2),
    weekStart,
    end,
  ),
);

describe('occurrences', () => {
  it('are those of an expansion day by day, for random rules over two years', async () => {
    const before = new Date(Date.UTC(2028, 5, 1));
    const anchors = fc.integer({ min: 0, max: 729 }).map((n) => new Date(Date.UTC(2025, 5, 1, 2, 15, 20) + n * DAY_MS));
    await fc.assert(
      fc.asyncProperty(RULES, anchors, async (text, anchor) => {
        const parsed = rule(text);
        const expected = naiveOccurrences(parsed, anchor, before);
        if (expected.length > 0) expect(isImpossible(parsed), text).toBe(false);
        fc.pre(!isImpossible(parsed));
        const query = { anchor, after: new Date(anchor.getTime() - 1), before, limit: 2000 };
        const dates = await recurrences.expand(parsed, query);
        if (dates === 'too-long') expect(expected, text).toEqual([]);
        else expect(dates.map(String), text).toEqual(expected.map(String));
      }),
      { numRuns: 300 },
    );
  }, 60_000);

  it('are planned from one moment on as they are from any earlier one', async () => {
    const start = new Date(Date.UTC(2026, 0, 5, 3));
    for (const text of ['FREQ=WEEKLY;INTERVAL=3', 'FREQ=MONTHLY;BYDAY=2TU', 'FREQ=WEEKLY;COUNT=30', 'FREQ=YEARLY']) {
      const all = await planDates(recurrences, text, start, new Date(start.getTime() - 1));
      for (const at of all.slice(0, 12)) {
        const rest = await planDates(recurrences, text, start, at);
        expect(rest.slice(0, 10)).toEqual(all.filter((date) => date > at).slice(0, 10));
      }
    }
  });

  it('of days are those that the library finds day by day from the anchor on', async () => {
    const rules = joined(
      fc.constant('FREQ=DAILY'),
      fc.oneof(fc.constant(''), interval(6)),
      maybe('BYDAY', days),
      maybe('BYMONTHDAY', numbers(-31, 31, 4)),
      maybe('BYMONTH', numbers(1, 12, 4)),
      fc.constantFrom('', ';BYHOUR=1,3;BYMINUTE=0,20', ';BYHOUR=1,3;BYSETPOS=1,-1'),
      fc.constantFrom('', ';UNTIL=20310101T000000Z'),
    );
    const anchors = fc.integer({ min: 0, max: 729 }).map((n) => new Date(Date.UTC(2024, 5, 1, 2, 15, 20) + n * DAY_MS));
    const before = new Date(Date.UTC(2033, 0, 1));
    const later = fc.integer({ min: -1000, max: 1500 * DAY_MS });
    await fc.assert(
      fc.asyncProperty(rules, anchors, later, async (text, anchor, wait) => {
        const parsed = rule(text);
        fc.pre(!isImpossible(parsed));
        const after = new Date(anchor.getTime() + wait);
        const library = new rrule.RRule({ ...rrule.RRule.parseString(text), dtstart: anchor, tzid: null });
        const expected = [...new Set(library.between(after, before).map((date) => date.toISOString()))];
        const dates = await recurrences.expand(parsed, { anchor, after, before, limit: 100_000 });
        if (dates !== 'too-long')
          expect(
            dates.map((date) => date.toISOString()),
            text,
          ).toEqual(expected);
        else expect(expected).toEqual([]);
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  it('that are rare are found soon', async () => {
    const impatient = createRecurrences(150);
    const anchor = new Date(Date.UTC(1970, 0, 1));
    const query = { anchor, after: new Date(Date.UTC(2026, 0, 1)), before: new Date(Date.UTC(2100, 0, 1)), limit: 26 };
    for (const text of ['FREQ=DAILY;BYDAY=SU;BYMONTHDAY=29;BYMONTH=2', 'FREQ=DAILY;BYDAY=SU;BYMONTHDAY=-1;BYMONTH=2']) {
      expect(await impatient.expand(rule(text), query), text).not.toBe('too-long');
    }
    const counted = await impatient.expand(rule('FREQ=DAILY;BYDAY=SU;BYMONTHDAY=29;BYMONTH=2;COUNT=4'), query);
    expect(counted).toEqual([new Date(Date.UTC(2032, 1, 29))]);
  });

  it('count the start among COUNT, whether it is on the rule or not', async () => {
    const now = new Date(Date.UTC(2026, 0, 1));
    const [thursday, monday] = [new Date(Date.UTC(2026, 0, 8, 3)), new Date(Date.UTC(2026, 0, 12, 3))];
    const plan = (text: string, start: Date, at = now) => planRequested(recurrences, text, start, at);
    const next = new Date(monday.getTime() + 7 * DAY_MS);
    expect(await plan('FREQ=WEEKLY;BYDAY=MO;COUNT=1', thursday)).toEqual([thursday]);
    expect(await plan('FREQ=WEEKLY;BYDAY=MO;COUNT=2', thursday)).toEqual([thursday, monday]);
    expect(await plan('FREQ=WEEKLY;BYDAY=MO;COUNT=2', monday)).toEqual([monday, next]);
    expect(await plan('FREQ=WEEKLY;BYDAY=MO;COUNT=3', thursday, monday)).toEqual([next]);
    expect(await plan('FREQ=MONTHLY;BYMONTHDAY=1;COUNT=1', thursday, monday)).toEqual([]);
    expect(await plan('FREQ=MONTHLY;BYMONTHDAY=1;COUNT=1', thursday)).toEqual([thursday]);
  });

  it('that are not found in time refuse a request, and fail a refill', async () => {
    const now = new Date(Date.UTC(2026, 0, 1));
    const first: Recurrences = {
      expand: async (_, { before }) => (before.getUTCFullYear() === 2100 ? 'too-long' : [now]),
    };
    await expect(planRequested(first, 'FREQ=YEARLY', now, now)).rejects.toMatchObject({
      code: 'InvalidParameter',
      details: [{ path: 'body.schedule' }],
    });
    await expect(planDates(first, 'FREQ=YEARLY', now, now)).rejects.not.toHaveProperty('code');
  });

  it('come within a time limit or not at all, and the next ones as ever', async () => {
    const impatient = createRecurrences(150);
    const anchor = new Date(Date.UTC(2026, 0, 1));
    const query = { anchor, after: anchor, before: new Date(Date.UTC(2036, 0, 1)), limit: 60 };
    const weekly = rule('FREQ=WEEKLY');
    expect(await impatient.expand(weekly, query)).toHaveLength(60);
    const never = rule('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30');
    const began = performance.now();
    expect(await impatient.expand(never, query)).toBe('too-long');
    expect(performance.now() - began).toBeLessThan(2_000);
    const both = await Promise.all([impatient.expand(never, query), impatient.expand(weekly, query)]);
    expect(both[0]).toBe('too-long');
    expect(both[1]).toHaveLength(60);
  });

  it('are refused as ServiceUnavailable when too many wait', async () => {
    const anchor = new Date(Date.UTC(2026, 0, 1));
    const query = { anchor, after: anchor, before: new Date(Date.UTC(2026, 1, 1)), limit: 3 };
    const asked = Array.from({ length: 1_010 }, () => recurrences.expand(rule('FREQ=WEEKLY'), query));
    const answers = await Promise.allSettled(asked);
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused).toHaveLength(10);
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'ServiceUnavailable', retryAfterSeconds: 5 });
  });
});
