import { DomainError } from '../../domain/common/errors.ts';
import { isTimeZone } from '../../domain/common/time-zone.ts';

const MAX_LINE = 255;
const MAX_EMAIL = 254;
/** One plain address: no list, group, route, comment or second header for any mail program. */
const EMAIL = /^[^\s@,;:<>()[\]\\"\p{Cc}]+@[^\s@,;:<>()[\]\\"\p{Cc}]+$/u;

/** One line of 1 to 255 characters, trimmed. @throws InvalidParameter @see docs/api-conventions.md#limits-of-fields */
export function readLine(path: string, value: string): string {
  const line = value.trim();
  if (line === '' || [...line].length > MAX_LINE || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) {
    throw fieldError(path, `must be one line of 1 to ${MAX_LINE} characters`);
  }
  return line;
}

/** One email address, trimmed. @throws {DomainError} InvalidParameter, also for text that mail programs could split */
export function readEmail(path: string, value: string): string {
  const email = value.trim();
  if ([...email].length > MAX_EMAIL || !EMAIL.test(email)) throw fieldError(path, 'must be an email address');
  return email;
}

/** A name in the IANA time zone database. @throws {DomainError} InvalidParameter, also for offsets such as `+01:00` */
export function readTimezone(path: string, value: string): string {
  if (isTimeZone(value)) return value;
  throw fieldError(path, 'must be the name of a time zone, such as Europe/Madrid');
}

export type Patch<T> = { [part in keyof T]?: T[part] | undefined };

/** Undefined for an absent part. */
export function ifGiven<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value);
}

/** The parts of a change that are given, in words and in the order of `words`. */
export function changedParts<K extends string>(
  change: { readonly [key in NoInfer<K>]?: unknown },
  words: Readonly<Record<K, string>>,
): string[] {
  return (Object.keys(words) as K[]).filter((key) => change[key] !== undefined).map((key) => words[key]);
}

export function emailTaken(): DomainError {
  return new DomainError('DuplicateEmail', 'Another person has this email address', {
    details: [{ path: 'body.email', message: 'is taken' }],
  });
}

export function fieldError(path: string, message: string): DomainError {
  return fieldErrors([{ path, message }]);
}

export const MAX_FIELD_ERRORS = 20;

/** Creates an InvalidParameter with the first errors up to a limit, without throwing it. */
export function fieldErrors(errors: ReadonlyArray<{ path: string; message: string }>): DomainError {
  const details = errors.slice(0, MAX_FIELD_ERRORS);
  const message = details.map(({ path, message: text }) => `${path} ${text}`).join('; ');
  return new DomainError('InvalidParameter', message, { details });
}

const MAX_QUOTED = 60;

/** Request text for error messages: quoted and truncated. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);
}
