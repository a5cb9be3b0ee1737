import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../../src/domain/common/errors.ts';
import { zonedCalendars } from '../../../../src/services/schedules/cron-dates.ts';
import { planDates } from '../../../../src/services/schedules/recurring-dates.ts';
import { toActivityFailure } from '../../../../workers/process/activity-failures.ts';

describe('a Temporal activity', () => {
  it.each([
    ['MissingRow', new DomainError('UnknownActivity', 'there is no activity 7')],
    ['Defect', new TypeError("Cannot read properties of undefined (reading 'id')")],
    ['Defect', new RangeError('Invalid time value')],
    ['Defect', Object.assign(new Error('division by zero'), { code: '22012' })],
    ['Defect', Object.assign(new Error('syntax error at or near "form"'), { code: '42601' })],
  ])('fails for good with %s', (type, error) => {
    const failure = toActivityFailure(error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type, nonRetryable: true, message: error.message, cause: error });
  });

  it.each([
    () => zonedCalendars({ interval: 'hourly', timezone: 'UTC' }),
    () =>
      planDates(
        { schedule: 'hourly', timezone: 'UTC', startDate: new Date(0), creationTime: new Date(0) },
        new Date(0),
      ),
  ])('fails for good with what is stored', (read) => {
    let error: unknown;
    try {
      read();
    } catch (thrown) {
      error = thrown;
    }
    expect(toActivityFailure(error)).toMatchObject({ type: 'Defect', message: expect.stringContaining('a stored') });
  });

  it.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('relation "lane" does not exist'), { code: '42P01' }),
    Object.assign(new Error('violates foreign key constraint'), { code: '23503' }),
    new TypeError('fetch failed', { cause: new Error('ECONNRESET') }),
    ApplicationFailure.nonRetryable('unknown', 'UnknownKind'),
  ])('leaves %s as it is', (error) => {
    expect(toActivityFailure(error)).toBe(error);
  });
});
