import { nearestName } from '../../../domain/common/nearest-name.ts';
import { quoted } from '../../../services/common/fields.ts';
import {
  bodySchemaOf,
  type JsonSchema,
  type OpenApiDocument,
  parametersOf,
  type PathOperation,
  resolveReference,
} from '../../openapi/objects.ts';
import { queryFault, type SelectorLanguage, selectorNames, suggestedQuery } from '../../openapi/selector-hints.ts';
import type { Operation } from '../operations.ts';
import { parseQueryString, type RawQuery, readParameters } from '../request/query.ts';
import { fieldHints } from './field-hints.ts';
import { RequestFaults, type UnknownKeys } from './request-faults.ts';
import { checkValue, prepareCheck, unknownMessage } from './schema-check.ts';
import { isObject } from './value-rules.ts';

/** Returns parameters as text for the validator; removes ignored fields. @throws on an unsupported schema keyword */
export function prepareRequestCheck(document: OpenApiDocument, operation: Operation, unknownKeys: UnknownKeys) {
  const { path, method } = operation;
  const pathOperation: PathOperation = { path, method, operation: document.paths[path]![method]! };
  const schema = bodySchemaOf(document, pathOperation.operation);
  const body = prepareCheck({ document, hintOf: fieldHints(document, pathOperation) }, schema ?? NO_BODY);
  const parameters = parameterChecks(document, pathOperation);
  const queries = queriesOf(document, operation, schema);
  const bodyFields = Object.keys((schema?.['properties'] as object | undefined) ?? {});
  return (queryString: string, sentBody: unknown) => {
    const findings = new RequestFaults(unknownKeys);
    const sent = parseQueryString(queryString);
    const query = readParameters(operation, sent, findings);
    checkParameters(parameters, sent, query, findings);
    checkUnknown(operation, sent, bodyFields, findings);
    if (sentBody !== undefined && !(schema === null && sentBody === null)) checkValue(body, sentBody, 'body', findings);
    else if (operation.needsBody) findings.add('body', 'is required');
    if (findings.error !== null) checkQueries(queries, { query, body: sentBody }, findings);
    return { query, ignored: findings.ignored, error: findings.error };
  };
}

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
  return selectors === undefined ? inBody : [{ place: 'query', name: 'query', language: selectors }, ...inBody];
}

/** An invalid query is reported here only along with other faults; alone it gets the service's own error code. */
function checkQueries(
  queries: readonly QueryText[],
  sent: Readonly<Record<QueryText['place'], unknown>>,
  findings: RequestFaults,
): void {
  for (const { place, name, language } of queries) {
    const text = isObject(sent[place]) ? sent[place][name] : undefined;
    const fault = typeof text === 'string' ? queryFault(language, text) : null;
    if (fault !== null) findings.add(`${place}.${name}`, fault);
  }
}

const NO_BODY: JsonSchema = { type: 'object', additionalProperties: false, properties: {} };

type ParameterChecks = ReturnType<typeof parameterChecks>;

function parameterChecks(document: OpenApiDocument, { operation }: PathOperation) {
  const inQuery = parametersOf(document, operation).filter((parameter) => parameter.in === 'query');
  return new Map(
    inQuery.map(({ name, required, schema }) => {
      const { type, items } = resolveReference<JsonSchema>(document, schema);
      const itemType = items ? resolveReference<JsonSchema>(document, items as JsonSchema)['type'] : null;
      const check = prepareCheck({ document, hintOf: () => null }, schema);
      return [name, { check, required, type, itemType }];
    }),
  );
}

function checkParameters(
  parameters: ParameterChecks,
  sent: RawQuery,
  query: Record<string, unknown>,
  findings: RequestFaults,
): void {
  for (const [name, parameter] of parameters) {
    const path = `query.${name}`;
    const value = query[name];
    if (value !== undefined) checkValue(parameter.check, parse(value, parameter), path, findings);
    else if (parameter.required && sent[name] === undefined) findings.add(path, 'is required');
  }
}

function parse(value: unknown, { type, itemType }: { type: unknown; itemType: unknown }): unknown {
  if (type === 'integer') return Number(value);
  if (type === 'boolean') return value === 'true';
  return itemType === 'integer' ? (value as string[]).map(Number) : value;
}

function checkUnknown(operation: Operation, sent: RawQuery, bodyFields: readonly string[], findings: RequestFaults) {
  for (const key of Object.keys(sent)) {
    if (operation.queryParameters.has(key)) continue;
    findings.addUnknown('query', key, () => describeUnknown(operation, sent, bodyFields, key));
  }
}

function describeUnknown(operation: Operation, sent: RawQuery, bodyFields: readonly string[], key: string): string {
  if (bodyFields.includes(key)) return `unknown parameter ${quoted(key)}; it is a field of the body`;
  const { selectors } = operation;
  const parameters = [...operation.queryParameters.keys()];
  const nearest = nearestName(key, [...parameters, ...(selectors ? selectorNames(selectors) : [])]);
  if (selectors === undefined || nearest === null || parameters.includes(nearest)) {
    return unknownMessage('parameter', key, parameters);
  }
  const query = [sent['query'] ?? ''].flat().join(' ');
  const suggestion =
    suggestedQuery(selectors, nearest, [sent[key]!].flat(), query) ?? `the selector "${nearest}:" of query`;
  return `unknown parameter ${quoted(key)}; did you mean ${suggestion}?`;
}
