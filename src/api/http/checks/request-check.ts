import type { DomainError } from '../../../domain/common/errors.ts';
import { nearestName } from '../../../domain/common/nearest-name.ts';
import { quoted } from '../../../services/common/fields.ts';
import type { JsonSchema, OpenApiDocument } from '../../openapi/objects.ts';
import { bodySchemaOf, type PathOperation, parametersOf, resolveReference } from '../../openapi/reading.ts';
import type { Operation } from '../operations.ts';
import { parseQueryString, readParameters, type SentQuery } from '../request/query.ts';
import { fieldHints } from './field-hints.ts';
import { Findings, type UnknownKeys } from './findings.ts';
import { checkValue, prepareCheck, unknownMessage, type ValueCheck } from './schema-check.ts';
import { meantQuery, queryFault, type SelectorLanguage, selectorNames } from '../../openapi/selector-hints.ts';
import { isObject } from './value-rules.ts';

/** What the check of a request has come to. */
export interface CheckedRequest {
  /** The declared parameters that were given, in the spelling that the validator takes. */
  query: Record<string, unknown>;
  /** What was ignored, for a header; null for nothing. Ignored fields are gone from the body. */
  ignored: string | null;
  /** InvalidParameter naming every fault, twenty at most; null where there is none. */
  refusal: DomainError | null;
}

/** Checks the parameters and the body of one request. @throws {DomainError} NotFound for a key that cannot be one */
export type RequestCheck = (queryString: string, body: unknown) => CheckedRequest;

/**
 * Prepares the check of an operation's requests.
 *
 * @throws when a schema has a keyword that is not known here
 */
export function prepareRequestCheck(
  document: OpenApiDocument,
  operation: Operation,
  unknownKeys: UnknownKeys,
): RequestCheck {
  const { path, method } = operation;
  const placed: PathOperation = { path, method, operation: document.paths[path]![method]! };
  const schema = bodySchemaOf(document, placed.operation);
  const hints = fieldHints(document, placed);
  const body = prepareCheck(document, schema ?? NO_BODY, hints);
  const parameters = parameterChecks(document, placed);
  const queries = queriesOf(document, operation, schema);
  const bodyFields = Object.keys((schema?.['properties'] as object | undefined) ?? {});
  return (queryString, sentBody) => {
    const findings = new Findings(unknownKeys);
    const sent = parseQueryString(queryString);
    const query = readParameters(operation, sent, findings);
    checkParameters(parameters, sent, query, findings);
    checkUnknown(operation, sent, bodyFields, findings);
    if (sentBody !== undefined && !(schema === null && sentBody === null)) checkValue(body, sentBody, 'body', findings);
    else if (operation.needsBody) findings.add('body', 'is required');
    if (findings.refusal !== null) checkQueries(queries, { query, body: sentBody }, findings);
    return { query, ignored: findings.ignored, refusal: findings.refusal };
  };
}

/** A text in a query language, in the query string or the body. */
interface QueryText {
  place: 'query' | 'body';
  name: string;
  language: SelectorLanguage;
}

function queriesOf(document: OpenApiDocument, { selectors }: Operation, body: JsonSchema | null): QueryText[] {
  const properties = Object.entries((body?.['properties'] ?? {}) as Record<string, JsonSchema>);
  const inBody = properties.flatMap(([name, property]): QueryText[] => {
    const language = resolveReference<JsonSchema>(document, property)['x-selectors'];
    return language === undefined ? [] : [{ place: 'body', name, language: language as SelectorLanguage }];
  });
  return selectors === null ? inBody : [{ place: 'query', name: 'query', language: selectors }, ...inBody];
}

/** A wrong query alone is refused as such where it is carried out; beside other faults it is named with them. */
function checkQueries(
  queries: readonly QueryText[],
  sent: Readonly<Record<QueryText['place'], unknown>>,
  findings: Findings,
): void {
  for (const { place, name, language } of queries) {
    const text = isObject(sent[place]) ? sent[place][name] : undefined;
    const fault = typeof text === 'string' ? queryFault(language, text) : null;
    if (fault !== null) findings.add(`${place}.${name}`, fault);
  }
}

/** What is taken where no body is described: none, or one that says nothing. */
const NO_BODY: JsonSchema = { type: 'object', additionalProperties: false, properties: {} };

function parameterChecks(document: OpenApiDocument, { operation }: PathOperation): Map<string, ParameterCheck> {
  const inQuery = parametersOf(document, operation).filter((parameter) => parameter.in === 'query');
  const noHints = { hintOf: () => null };
  return new Map(
    inQuery.map(({ name, required, schema }) => {
      const { type, items } = resolveReference<JsonSchema>(document, schema);
      const itemType = items ? resolveReference<JsonSchema>(document, items as JsonSchema)['type'] : null;
      const check = prepareCheck(document, schema, noHints);
      return [name, { check, isRequired: required === true, type: type as string, itemType }];
    }),
  );
}

interface ParameterCheck {
  check: ValueCheck;
  isRequired: boolean;
  type: string;
  /** Type of the entries of a list. */
  itemType: unknown;
}

function checkParameters(
  parameters: ReadonlyMap<string, ParameterCheck>,
  sent: SentQuery,
  query: Record<string, unknown>,
  findings: Findings,
): void {
  for (const [name, parameter] of parameters) {
    const path = `query.${name}`;
    const value = query[name];
    if (value !== undefined) checkValue(parameter.check, spelledBy(parameter, value), path, findings);
    else if (parameter.isRequired && sent[name] === undefined) findings.add(path, 'is required');
  }
}

/** Texts as the values that they spell. */
function spelledBy({ type, itemType }: ParameterCheck, value: unknown): unknown {
  if (type === 'integer') return Number(value);
  if (type === 'boolean') return value === 'true';
  return itemType === 'integer' ? (value as string[]).map(Number) : value;
}

function checkUnknown(operation: Operation, sent: SentQuery, bodyFields: readonly string[], findings: Findings): void {
  for (const key of Object.keys(sent)) {
    if (operation.queryParameters.has(key)) continue;
    findings.addUnknown('query', key, () => describeUnknown(operation, sent, bodyFields, key));
  }
}

function describeUnknown(operation: Operation, sent: SentQuery, bodyFields: readonly string[], key: string): string {
  if (bodyFields.includes(key)) return `unknown parameter ${quoted(key)}; it is a field of the body`;
  const { selectors } = operation;
  const parameters = [...operation.queryParameters.keys()];
  const nearest = nearestName(key, [...parameters, ...(selectors ? selectorNames(selectors) : [])]);
  if (selectors === null || nearest === null || parameters.includes(nearest)) {
    return unknownMessage('parameter', key, parameters);
  }
  const query = [sent['query'] ?? ''].flat().join(' ');
  const meant = meantQuery(selectors, nearest, [sent[key]!].flat(), query) ?? `the selector "${nearest}:" of query`;
  return `unknown parameter ${quoted(key)}; did you mean ${meant}?`;
}
