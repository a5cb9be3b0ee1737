import type { Permission } from '../../domain/identity/permissions.ts';
import { refusedField, refusedFields } from './fields.ts';

const TAG = /^[\p{L}\p{Nd}-][\p{L}\p{M}\p{Nd}-]{0,49}$/u;
const NO_TAG = 'must have 1 to 50 letters with their marks, digits and dashes each';
const ANNOTATION_KEY = /^[^\s:"\p{Cc}]{1,255}$/u;
const MAX_VALUE = 10_000;

/** Most tags, and most annotations, that administrators may give a computer. */
export const MAX_TAGS = 100;
export const MAX_ANNOTATIONS = 500;

/** What it takes to put a computer into an access group: moving is making it anew there. */
export const MOVING: readonly Permission[] = ['ManageComputer', 'ViewComputer'];

/**
 * Tags, each once.
 *
 * @param known - tags that may stay whatever they look like, as agents have made them
 * @throws {DomainError} InvalidParameter that names each tag that is wrong
 */
export function readTags(path: string, tags: readonly string[], known: readonly string[] = []): string[] {
  const faults = tags.flatMap((tag, place) =>
    TAG.test(tag) || known.includes(tag) ? [] : [{ path: `${path}.${place}`, message: NO_TAG }],
  );
  if (faults.length > 0) throw refusedFields(faults);
  if (tags.length > MAX_TAGS) throw refusedField(path, `must not be more than ${MAX_TAGS}`);
  return [...new Set(tags)];
}

/**
 * Key of an annotation: what `annotation:<key>:<text>` can ask for.
 *
 * @throws {DomainError} InvalidParameter
 */
export function readAnnotationKey(path: string, key: string): string {
  if (ANNOTATION_KEY.test(key)) return key;
  throw refusedField(path, 'must have 1 to 255 characters without spaces, colons and quotes');
}

/** Text of an annotation. @throws {DomainError} InvalidParameter */
export function readAnnotationValue(path: string, value: string): string {
  if ([...value].length <= MAX_VALUE) return value;
  throw refusedField(path, `must not have more than ${MAX_VALUE} characters`);
}
