import type { Permission } from '../../domain/identity/permissions.ts';
import { fieldError, fieldErrors } from './fields.ts';

const TAG = /^[\p{L}\p{Nd}-][\p{L}\p{M}\p{Nd}-]{0,49}$/u;
const TAG_RULE = 'must have 1 to 50 letters with their marks, digits and dashes each';
const ANNOTATION_KEY = /^[^\s:"\p{Cc}]{1,255}$/u;
const MAX_VALUE = 10_000;

export const MAX_TAGS = 100;
export const MAX_ANNOTATIONS = 500;

/** Needed in the access group that a computer is moved into. */
export const MOVE_PERMISSIONS: readonly Permission[] = ['ManageComputer', 'ViewComputer'];

/** Distinct tags; `known` ones, which agents may have set, in any form. @throws {DomainError} InvalidParameter */
export function readTags(path: string, tags: readonly string[], known: readonly string[] = []): string[] {
  const errors = tags.flatMap((tag, place) =>
    TAG.test(tag) || known.includes(tag) ? [] : [{ path: `${path}.${place}`, message: TAG_RULE }],
  );
  if (errors.length > 0) throw fieldErrors(errors);
  if (tags.length > MAX_TAGS) throw fieldError(path, `must not be more than ${MAX_TAGS}`);
  return [...new Set(tags)];
}

/** Key of an annotation, valid in the selector `annotation:<key>:<text>`. @throws {DomainError} InvalidParameter */
export function readAnnotationKey(path: string, key: string): string {
  if (ANNOTATION_KEY.test(key)) return key;
  throw fieldError(path, 'must have 1 to 255 characters without spaces, colons and quotes');
}

/** @throws {DomainError} InvalidParameter */
export function readAnnotationValue(path: string, value: string): string {
  if ([...value].length <= MAX_VALUE) return value;
  throw fieldError(path, `must not have more than ${MAX_VALUE} characters`);
}
