import {
  eachOperation,
  type HttpMethod,
  type JsonSchema,
  loadDocument,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  parametersOf,
  resolveReference,
} from '../../../src/api/openapi/document.ts';
import { errorCodesOf } from '../../../src/api/openapi/error-responses.ts';

/** One operation of the document, as tests over all of them need it. */
export interface DocumentedOperation {
  id: string;
  method: Uppercase<HttpMethod>;
  path: string;
  /** `METHOD /path`, for the names of tests. */
  title: string;
  /** Value of `x-permission`. */
  access: 'none' | 'token' | 'account' | string[];
  /** Value of `x-login`. */
  needsLogin: boolean;
  pathParameters: string[];
  /** Those of the query that have to be given. */
  queryParameters: string[];
  /** Every declared one of the query. */
  allQueryParameters: string[];
  /** Schema of the JSON body; null when there is none. */
  body: JsonSchema | null;
  /** Every rejection it documents, as `<status> <code>`. */
  errors: string[];
  /** Those of them that are its own: they do not follow from its permission, parameters and body. */
  ownErrors: string[];
}

const document = loadDocument();

/** Every operation of the document. */
export const OPERATIONS: readonly DocumentedOperation[] = eachOperation(document).map(({ path, method, operation }) => {
  const access = operation['x-permission'];
  const upper = method.toUpperCase() as Uppercase<HttpMethod>;
  return {
    id: operation.operationId,
    method: upper,
    path,
    title: `${upper} ${path}`,
    access: access === 'none' || access === 'token' || access === 'account' ? access : ([access].flat() as string[]),
    needsLogin: operation['x-login'] ?? false,
    pathParameters: namesOf(operation, (p) => p.in === 'path'),
    queryParameters: namesOf(operation, (p) => p.in === 'query' && p.required === true),
    allQueryParameters: namesOf(operation, (p) => p.in === 'query'),
    body: bodySchema(document, operation),
    errors: [...errorCodesOf(operation, method, parametersOf(document, operation))].flatMap(([status, codes]) =>
      [...codes].map((code) => `${status} ${code}`),
    ),
    ownErrors: Object.entries(operation['x-errors'] ?? {}).flatMap(([status, codes]) =>
      codes.map((code) => `${status} ${code}`),
    ),
  };
});

function namesOf(operation: OperationObject, isMeant: (parameter: ParameterObject) => boolean): string[] {
  return parametersOf(document, operation)
    .filter(isMeant)
    .map((p) => p.name);
}

function bodySchema(doc: OpenApiDocument, operation: OperationObject): JsonSchema | null {
  const { requestBody } = operation as { requestBody?: { content: Record<string, { schema: JsonSchema }> } };
  const schema = requestBody?.content['application/json']?.schema;
  return schema ? resolveReference<JsonSchema>(doc, schema) : null;
}

/** Values for path parameters and body fields, by name. */
export type Samples = Readonly<Record<string, unknown>>;

/** The address of an operation, with the query parameters that have to be given as far as there are samples. @throws when a path parameter has no sample, so that no new kind of object is left out */
export function samplePath(operation: DocumentedOperation, samples: Samples): string {
  const query = operation.queryParameters.filter((name) => name in samples);
  const search = new URLSearchParams(query.map((name): [string, string] => [name, String(samples[name])])).toString();
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!(name in samples)) throw new Error(`give test/support/identity/rights-world.ts a sample of {${name}}`);
    return encodeURIComponent(String(samples[name]));
  });
  return search === '' ? path : `${path}?${search}`;
}

/** A body with every required field, and those optional ones that name objects. Undefined where there is no body. */
export function sampleBody(operation: DocumentedOperation, samples: Samples): unknown {
  return operation.body === null ? undefined : sampleOf(operation.body, samples);
}

/** Names of the declared fields of a body. */
export function bodyFields(operation: DocumentedOperation): string[] {
  return Object.keys((operation.body?.['properties'] as object | undefined) ?? {});
}

function sampleOf(given: JsonSchema, samples: Samples): unknown {
  const schema = resolveReference<JsonSchema>(document, given);
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const type = [schema['type']].flat()[0];
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
  if (type === 'boolean') return false;
  if (type === 'array') return schema['minItems'] ? [sampleOf(schema['items'] as JsonSchema, samples)] : [];
  if (type === 'object' || schema['properties']) return sampleObject(schema, samples);
  return 'sample';
}

function sampleObject(schema: JsonSchema, samples: Samples): Record<string, unknown> {
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const fields = Object.entries((schema['properties'] as Record<string, JsonSchema> | undefined) ?? {});
  return Object.fromEntries(
    fields
      .filter(([name]) => required.has(name) || name in samples)
      .map(([name, field]) => [name, name in samples ? samples[name] : sampleOf(field, samples)]),
  );
}

/** The declared fields of a body with the JSON types they may have; none where the document leaves it open. */
export function fieldTypes(operation: DocumentedOperation): Array<{ name: string; types: string[] }> {
  const fields = Object.entries((operation.body?.['properties'] as Record<string, JsonSchema> | undefined) ?? {});
  return fields.map(([name, field]) => ({ name, types: typesOf(field) }));
}

function typesOf(given: JsonSchema): string[] {
  const schema = resolveReference<JsonSchema>(document, given);
  const choices = [schema['anyOf'], schema['oneOf']].flat().filter(Boolean) as JsonSchema[];
  return [...([schema['type']].flat().filter(Boolean) as string[]), ...choices.flatMap(typesOf)];
}
