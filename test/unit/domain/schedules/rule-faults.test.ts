import { describe, expect, it } from 'vitest';
import { isProblem, parseRule } from '../../../../src/domain/schedules/recurrence-rule.ts';

function faultOf(text: string): string | null {
  const rule = parseRule(text);
  return isProblem(rule) ? rule.message : null;
}

describe('what is wrong with a recurrence rule', () => {
  it.each([
    ['FREQ=WEEKLY;', 'must not end with a semicolon'],
    [';FREQ=WEEKLY', 'must not begin with a semicolon'],
    ['FREQ=WEEKLY;;BYDAY=MO', 'must not have two semicolons in a row'],
    ['FREQ=WEEKLY; BYDAY=MO', 'must not have spaces'],
    ['FREQ = WEEKLY', 'must not have spaces'],
    [
      'DTSTART:20260101T000000Z\nRRULE:FREQ=WEEKLY',
      'must not have DTSTART; the rule counts from the start date of the profile',
    ],
    ['DTSTART=20260101;FREQ=WEEKLY', 'must not have DTSTART; the rule counts from the start date of the profile'],
    ['FREQ=WEEKLY\nEXDATE:20260101', 'must not have EXDATE; only one recurrence rule is taken'],
    ['RRULE:FREQ=WEEKLY\nRRULE:FREQ=DAILY', 'must be one rule on one line'],
    ['FREQ=YEARLY;BYMONTH=13', 'BYMONTH must list months from 1 to 12, and 13 is not one'],
    ['FREQ=YEARLY;BYMONTH=1,2,0', 'BYMONTH must list months from 1 to 12, and 0 is not one'],
    ['FREQ=YEARLY;BYMONTH=1,', 'BYMONTH must list months from 1 to 12, and has an empty entry'],
    ['FREQ=WEEKLY;BYDAY=MONDAY', 'BYDAY must list weekdays such as MO, 1MO or -1FR, and MONDAY is not one'],
    ['FREQ=WEEKLY;BYDAY=', 'BYDAY has no value'],
    ['FREQ=WEEKLY;UNTIL=20261301', 'UNTIL must have a month from 01 to 12, and 13 is not one'],
    ['FREQ=WEEKLY;UNTIL=20260230', 'UNTIL must be a day of its month, and 30 is not one'],
    ['FREQ=WEEKLY;BYDAYS=MO', 'has an unknown part BYDAYS; did you mean BYDAY?'],
    ['WEEKLY', 'must be parts NAME=VALUE, and WEEKLY has no "="'],
    ['BYDAY=MO', 'must have FREQ, such as FREQ=WEEKLY'],
    ['FREQ=FORTNIGHTLY', 'FREQ must be one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY, SECONDLY'],
    ['FREQ=WEEKLY;FREQ=DAILY', 'FREQ must be given once'],
    ['', 'must not be empty'],
  ])('%j: %s', (text, message) => {
    expect(faultOf(text)).toBe(message);
  });

  it('names the known parts where none is near, and shows no more of a text than a few words', () => {
    expect(faultOf('FREQ=WEEKLY;FOO=1')).toMatch(/^has an unknown part FOO; known are FREQ, INTERVAL, /);
    expect(faultOf(`FREQ=WEEKLY;${'X'.repeat(900)}=1`)!.length).toBeLessThan(250);
    expect(faultOf(`FREQ=WEEKLY;BYDAY=${'X'.repeat(900)}`)!.length).toBeLessThan(250);
  });
});
