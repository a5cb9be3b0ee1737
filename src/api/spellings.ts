import { refusedField } from '../services/fields.ts';

const TRUE = new Set(['true', '1', 'yes']);
const FALSE = new Set(['false', '0', 'no']);

/**
 * A boolean in any of its six spellings as `true` or `false`.
 *
 * @param path - where it stood, for the refusal
 * @throws {DomainError} InvalidParameter on another spelling
 */
export function readBoolean(path: string, value: string): 'true' | 'false' {
  const lower = value.toLowerCase();
  if (TRUE.has(lower)) return 'true';
  if (FALSE.has(lower)) return 'false';
  throw refusedField(path, 'must be true or false');
}
