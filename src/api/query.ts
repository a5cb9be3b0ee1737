import { parse } from 'node:querystring';
import { DomainError } from '../domain/errors.ts';
import { refusedField } from '../services/fields.ts';
import type { Operation, ParameterKind } from './operations.ts';
import { readBoolean } from './spellings.ts';

/**
 * The declared parameters of a query string, in the spelling the validator takes: booleans in any of their six
 * spellings, lists with commas or repeated keys. Undeclared keys are left out.
 *
 * @throws {DomainError} InvalidParameter on a boolean or integer in no known spelling, a repeated single value, U+0000;
 * NotFound on a key with U+0000
 * @see api-decisions 2.1
 */
export function readQuery(operation: Operation, queryString: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  if (queryString === '' || operation.queryParameters.size === 0) return query;
  // Bounded by the size of a request's head alone: what is left out would be taken for absent.
  const sent = parse(queryString, '&', '=', { maxKeys: 0 });
  for (const [name, kind] of operation.queryParameters) {
    const value = sent[name];
    if (value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    if (values.some((v) => v.includes('\0'))) throw unstorable(name, kind);
    query[name] = readValue(name, kind, values);
  }
  return query;
}

function unstorable(name: string, kind: ParameterKind): DomainError {
  if (kind === 'key') return new DomainError('NotFound', `There is nothing of this ${name}`);
  return refusedField(`query.${name}`, 'must not contain U+0000');
}

function readValue(name: string, kind: ParameterKind, values: readonly string[]): unknown {
  if (kind === 'array' || kind === 'integers') {
    const items = values.flatMap((v) => v.split(',')).filter((v) => v !== '');
    if (kind === 'integers') for (const [place, item] of items.entries()) checkInteger(`${name}.${place}`, item);
    return items;
  }
  if (values.length > 1) throw refusedField(`query.${name}`, 'must be given once');
  const value = values[0]!;
  if (kind === 'boolean') return readBoolean(`query.${name}`, value);
  if (kind === 'integer') checkInteger(name, value);
  return value;
}

/** The validator would take whatever JavaScript reads as a number. */
function checkInteger(path: string, text: string): void {
  if (!/^-?\d{1,16}$/.test(text)) throw refusedField(`query.${path}`, 'must be an integer');
}
