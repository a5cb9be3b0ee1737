import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { DomainError } from '../../../domain/common/errors.ts';
import type { RequestMemory } from '../../../process/admission/request-memory.ts';
import { fieldError } from '../../../services/common/fields.ts';
import type { FormFieldType } from '../operations.ts';
import { parseBoolean } from '../request/query.ts';
import { readBodyBytes } from './body-bytes.ts';
import { parseJson } from './json-body.ts';

/**
 * Reads a body that is a JSON object or a form (`key=value` pairs), whatever its media type.
 * @param types - of the declared fields; other fields, and values that cannot be parsed, stay text
 * @returns undefined when there is none
 * @throws {DomainError} PayloadTooLarge, ServiceUnavailable, InvalidJson when it is neither, InvalidParameter for a
 * repeated field
 */
export async function readFormBody(
  req: Request,
  limitBytes: number,
  memory: RequestMemory,
  types: ReadonlyMap<string, FormFieldType>,
): Promise<unknown> {
  const bytes = await readBodyBytes(req, limitBytes, memory);
  if (bytes.length === 0 || !isUtf8(bytes)) return bytes.length === 0 ? undefined : parseJson(bytes);
  const text = bytes.toString('utf8').trim();
  if (text === '') return undefined;
  if (!FORM_START.test(text)) return parseJson(bytes);
  if (text.length > MAX_FORM_CHARACTERS) {
    throw new DomainError('PayloadTooLarge', `A form must not have more than ${MAX_FORM_CHARACTERS} characters`);
  }
  return readForm(new URLSearchParams(text), types);
}

const MAX_FORM_CHARACTERS = 64 * 1024;

const MAX_NAME = 100;

/** No JSON text starts with a name and an equals sign. */
const FORM_START = /^[A-Za-z_][A-Za-z0-9_]*=/;

function readForm(sent: URLSearchParams, types: ReadonlyMap<string, FormFieldType>): Record<string, unknown> {
  // A field may have the name of a property that every object has.
  const body = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of sent) {
    if (name in body || value.includes('\0')) {
      const message = name in body ? 'must be given once' : 'must not contain U+0000';
      throw fieldError(`body.${name.slice(0, MAX_NAME)}`, message);
    }
    body[name] = readFormValue(types.get(name) ?? 'string', value);
  }
  return body;
}

/** An invalid value stays text, which the validation rejects. */
function readFormValue(type: FormFieldType, value: string): unknown {
  if (type === 'integer') return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  const truth = type === 'boolean' ? parseBoolean(value) : null;
  return truth === null ? value : truth === 'true';
}
