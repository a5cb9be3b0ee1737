import { parseInstant } from '../../domain/common/instant.ts';
import { FIRST_DATE, LAST_DATE } from '../../domain/schedules/plan.ts';
import { refusedField } from '../common/fields.ts';

/**
 * Reads a moment that dates are counted from, in whole seconds: schedules know nothing finer.
 *
 * @param path - where it stands in the request, for the refusal
 * @throws {DomainError} InvalidParameter when it is no moment or outside the years that schedules know
 */
export function readScheduleMoment(path: string, text: string): Date {
  const moment = parseInstant(text);
  if (moment === null || moment < FIRST_DATE || moment >= LAST_DATE) {
    throw refusedField(path, 'must be an ISO 8601 date and time between 1900 and 2099');
  }
  moment.setUTCMilliseconds(0);
  return moment;
}
