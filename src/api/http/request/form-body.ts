import { DomainError } from '../../../domain/common/errors.ts';
import { fieldError } from '../../../services/common/fields.ts';
import type { FormFieldType } from '../operations.ts';
import { parseBoolean } from './query.ts';

/** No JSON text starts with a name and an equals sign. */
export function isForm(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*=/.test(text);
}

const MAX_FORM_CHARACTERS = 64 * 1024;
const MAX_NAME = 100;

/** Undeclared or unparsable values stay text. @throws {DomainError} PayloadTooLarge, InvalidParameter if repeated */
export function readForm(text: string, types: ReadonlyMap<string, FormFieldType>): Record<string, unknown> {
  if (text.length > MAX_FORM_CHARACTERS) {
    throw new DomainError('PayloadTooLarge', `A form must not have more than ${MAX_FORM_CHARACTERS} characters`);
  }
  // A field may have the name of a property that every object has.
  const body = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in body || value.includes('\0')) {
      const message = name in body ? 'must be given once' : 'must not contain U+0000';
      throw fieldError(`body.${name.slice(0, MAX_NAME)}`, message);
    }
    body[name] = readFormValue(types.get(name) ?? 'string', value);
  }
  return body;
}

function readFormValue(type: FormFieldType, value: string): unknown {
  if (type === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  const truth = type === 'boolean' ? parseBoolean(value) : null;
  return truth === null ? value : truth === 'true';
}
