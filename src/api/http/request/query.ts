import { type ParsedUrlQuery, parse } from 'node:querystring';
import { DomainError } from '../../../domain/common/errors.ts';
import type { RequestFaults } from '../checks/request-faults.ts';
import type { Operation, ParameterKind } from '../operations.ts';

export type RawQuery = ParsedUrlQuery;

/** `maxKeys: 0` because dropped keys would count as absent; the size of the request's head is limit enough. */
export function parseQueryString(text: string): RawQuery {
  return text === '' ? {} : parse(text, '&', '=', { maxKeys: 0 });
}

/** As text for the validator; invalid values are reported and left out. @throws {DomainError} NotFound on U+0000 */
export function readParameters(operation: Operation, sent: RawQuery, findings: RequestFaults): Record<string, unknown> {
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

function readValue(name: string, kind: ParameterKind, values: readonly string[], fault: Fault): unknown {
  if (values.some((value) => value.includes('\0'))) {
    if (kind === 'key') throw new DomainError('NotFound', `There is no such ${name}`);
    return fault('must not contain U+0000');
  }
  if (kind === 'array' || kind === 'integers') {
    const items = values.flatMap((value) => value.split(',')).filter((item) => item !== '');
    const wrong = kind === 'integers' ? items.findIndex((item) => !isInteger(item)) : -1;
    return wrong === -1 ? items : fault(NOT_INTEGER, `${name}.${wrong}`);
  }
  if (values.length > 1) return fault('must be given once');
  const value = values[0]!;
  if (kind === 'boolean') return parseBoolean(value) ?? fault('must be true or false');
  return kind === 'integer' && !isInteger(value) ? fault(NOT_INTEGER) : value;
}

const NOT_INTEGER = 'must be an integer';

/** Stricter than the validator, which accepts whatever JavaScript converts to a number. */
function isInteger(text: string): boolean {
  return /^-?\d{1,16}$/.test(text);
}

const TRUE = new Set(['true', '1', 'yes']);
const FALSE = new Set(['false', '0', 'no']);

/** @returns null for a text that is no boolean */
export function parseBoolean(text: string): 'true' | 'false' | null {
  const lower = text.toLowerCase();
  if (TRUE.has(lower)) return 'true';
  return FALSE.has(lower) ? 'false' : null;
}
