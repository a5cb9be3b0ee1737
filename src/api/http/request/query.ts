import { type ParsedUrlQuery, parse } from 'node:querystring';
import { DomainError } from '../../../domain/common/errors.ts';
import type { Findings } from '../checks/findings.ts';
import type { Operation, ParameterKind } from '../operations.ts';
import { NO_BOOLEAN, readBoolean } from './spellings.ts';

/** Every key of a query string with its values. */
export type SentQuery = ParsedUrlQuery;

/** Takes a query string apart; bounded by the size of a request's head alone, as what is left out counts as absent. */
export function parseQueryString(text: string): SentQuery {
  return text === '' ? {} : parse(text, '&', '=', { maxKeys: 0 });
}

/**
 * The declared parameters of a query, in the spelling the validator takes: booleans in any of their six spellings, lists
 * with commas or repeated keys. What cannot be read is noted and left out.
 *
 * @throws {DomainError} NotFound on a key with U+0000
 */
export function readParameters(operation: Operation, sent: SentQuery, findings: Findings): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, kind] of operation.queryParameters) {
    const value = sent[name];
    if (value === undefined) continue;
    const fault: Fault = (message, path = name) => {
      findings.add(`query.${path}`, message);
    };
    const read = readValue(name, kind, [value].flat(), fault);
    if (read !== undefined) query[name] = read;
  }
  return query;
}

type Fault = (message: string, path?: string) => undefined;

/** @returns undefined for what cannot be read, which is noted */
function readValue(name: string, kind: ParameterKind, values: readonly string[], fault: Fault): unknown {
  if (values.some((value) => value.includes('\0'))) {
    if (kind === 'key') throw new DomainError('NotFound', `There is nothing of this ${name}`);
    return fault('must not contain U+0000');
  }
  if (kind === 'array' || kind === 'integers') {
    const items = values.flatMap((value) => value.split(',')).filter((item) => item !== '');
    const wrong = kind === 'integers' ? items.findIndex((item) => !isInteger(item)) : -1;
    return wrong === -1 ? items : fault(NO_INTEGER, `${name}.${wrong}`);
  }
  if (values.length > 1) return fault('must be given once');
  const value = values[0]!;
  if (kind === 'boolean') return readBoolean(value) ?? fault(NO_BOOLEAN);
  return kind === 'integer' && !isInteger(value) ? fault(NO_INTEGER) : value;
}

const NO_INTEGER = 'must be an integer';

/** The validator would take whatever JavaScript reads as a number. */
function isInteger(text: string): boolean {
  return /^-?\d{1,16}$/.test(text);
}
