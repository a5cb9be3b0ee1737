import { DomainError } from '../../domain/common/errors.ts';
import { isTimeZone } from '../../domain/common/time-zone.ts';

const MAX_LINE = 255;
const MAX_EMAIL = 254;
/** One plain address: nothing a mail program reads as a list, a group, a route, a comment or a second header. */
const EMAIL = /^[^\s@,;:<>()[\]\\"\p{Cc}]+@[^\s@,;:<>()[\]\\"\p{Cc}]+$/u;

/**
 * A name or title: one line of 1 to 255 characters, trimmed.
 *
 * @param path - where it stands in the request, for the refusal
 * @throws {DomainError} InvalidParameter
 * @see docs/api-conventions.md#limits-of-fields
 */
export function readLine(path: string, value: string): string {
  const line = value.trim();
  if (line === '' || [...line].length > MAX_LINE || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) {
    throw refusedField(path, `must be one line of 1 to ${MAX_LINE} characters`);
  }
  return line;
}

/**
 * One email address, trimmed.
 *
 * @throws {DomainError} InvalidParameter, also for anything that mail programs take for several recipients
 */
export function readEmail(path: string, value: string): string {
  const email = value.trim();
  if ([...email].length > MAX_EMAIL || !EMAIL.test(email)) throw refusedField(path, 'must be an email address');
  return email;
}

/**
 * A name in the IANA time zone database.
 *
 * @throws {DomainError} InvalidParameter, also for offsets such as `+01:00`
 */
export function readTimezone(path: string, value: string): string {
  if (isTimeZone(value)) return value;
  throw refusedField(path, 'must be the name of a time zone, such as Europe/Madrid');
}

/** The refusal of an address that another person has. */
export function emailTaken(): DomainError {
  return new DomainError('DuplicateEmail', 'Somebody else has this email address', {
    details: [{ path: 'body.email', message: 'is taken' }],
  });
}

/** The refusal of one field. */
export function refusedField(path: string, message: string): DomainError {
  return refusedFields([{ path, message }]);
}

/** Most faults that one answer names. */
export const MAX_FAULTS = 20;

/** The refusal of fields, of which the first {@link MAX_FAULTS} are named. */
export function refusedFields(faults: ReadonlyArray<{ path: string; message: string }>): DomainError {
  const details = faults.slice(0, MAX_FAULTS);
  const message = details.map((fault) => `${fault.path} ${fault.message}`).join('; ');
  return new DomainError('InvalidParameter', message, { details });
}

const MAX_QUOTED = 60;

/** Text of a request as a refusal shows it: in quotes, and cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);
}
