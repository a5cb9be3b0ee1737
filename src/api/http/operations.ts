import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS, type Permission } from '../../domain/identity/permissions.ts';
import { ERROR_STATUS } from '../../domain/common/errors.ts';
import {
  bodySchemaOf,
  eachOperation,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type PathOperation,
  parametersOf,
  resolveReference,
} from '../openapi/document.ts';
import { errorCodesOf, unknownCodeOf } from '../openapi/error-responses.ts';

/** What a caller needs: nothing, a token, any role in the token's account, or all of the permissions. */
type Access = 'none' | 'token' | 'account' | readonly Permission[];

export type FormFieldType = 'integer' | 'boolean' | 'string';

/** `integers`: a list of them; `key`: text that is only looked up, so that an impossible value is not found. */
export type ParameterKind = 'integer' | 'integers' | 'boolean' | 'array' | 'string' | 'key';

export interface PathParameter {
  name: string;
  integer: boolean;
  unknown: keyof typeof ERROR_STATUS;
}

export type Operation = ReturnType<typeof toOperation>;

const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
const PERMISSIONS: ReadonlySet<string> = new Set([...GROUP_PERMISSIONS, ...GLOBAL_PERMISSIONS]);

/** @throws on an invalid `x-permission`, a repeated `operationId`, and a path parameter without an error code */
export function readOperations(document: OpenApiDocument): Operation[] {
  const operations = eachOperation(document).map((operation) => toOperation(document, operation));
  const ids = new Set(operations.map(({ id }) => id));
  if (ids.size < operations.length) throw invalid('an operationId is used twice or missing');
  return operations;
}

/** Whether a request changes nothing. @param operation - undefined when no route matched */
export function isRead(operation: Operation | undefined, method: string): boolean {
  return (method === 'GET' || method === 'HEAD') && !operation?.hasSideEffects;
}

function invalid(problem: string): Error {
  return new Error(`The OpenAPI document is not valid: ${problem}`);
}

function toOperation(document: OpenApiDocument, { path, method, operation }: PathOperation) {
  const parameters = parametersOf(document, operation);
  const kindOf = (p: ParameterObject) =>
    p['x-opaque'] ? 'key' : parameterKind(document, resolveReference<JsonSchema>(document, p.schema));
  const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]): PathParameter => {
    const parameter = parameters.find((p) => p.in === 'path' && p.name === name);
    if (!parameter) throw invalid(`${path}: {${name}} is not declared`);
    const integer = kindOf(parameter) === 'integer';
    const unknown = integer ? unknownCodeOf(parameter.name) : 'NotFound';
    if (!(unknown in ERROR_STATUS)) throw invalid(`path parameter ${name} needs the error code ${unknown}`);
    return { name: parameter.name, integer, unknown: unknown as PathParameter['unknown'] };
  });
  return {
    id: operation.operationId,
    path,
    /** The path as Express has it. */
    route: path.replaceAll(':', '\\:').replace(/\{(\w+)\}/g, ':$1'),
    method,
    access: readAccess(operation),
    needsLogin: operation['x-login'] ?? false,
    feature: operation['x-feature'],
    hasSideEffects: operation['x-acts'] ?? false,
    listsActivities: operation['x-activity-ids'] ?? false,
    deployment: operation['x-deployment'],
    bodyLimitBytes: operation['x-body-limit'] ?? BODY_LIMIT_BYTES,
    takesBody: operation.requestBody !== undefined,
    needsBody: operation.requestBody?.required === true,
    formFields: operation['x-body-form'] ? formFieldsOf(document, operation) : null,
    pathParameters,
    queryParameters: new Map(parameters.filter((p) => p.in === 'query').map((p) => [p.name, kindOf(p)])),
    /** `Prefer: wait=<seconds>`. */
    takesPreference: parameters.some((p) => p.in === 'header' && p.name === 'Prefer'),
    selectors: parameters.find((p) => p['x-selectors'])?.['x-selectors'],
    successStatus: Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))),
    errorCodes: errorCodesOf(operation, method, parameters),
  };
}

function formFieldsOf(document: OpenApiDocument, operation: OperationObject): ReadonlyMap<string, FormFieldType> {
  const fields = Object.entries(bodySchemaOf(document, operation)!['properties'] as Record<string, JsonSchema>);
  return new Map(
    fields.map(([name, field]) => {
      const type = [resolveReference<JsonSchema>(document, field)['type']].flat()[0];
      return [name, type === 'integer' || type === 'boolean' ? type : 'string'];
    }),
  );
}

function parameterKind(document: OpenApiDocument, { type, items }: JsonSchema): ParameterKind {
  if (type === 'array' && items) {
    return resolveReference(document, items as JsonSchema)['type'] === 'integer' ? 'integers' : 'array';
  }
  return type === 'integer' || type === 'boolean' || type === 'array' ? type : 'string';
}

function readAccess(operation: OperationObject): Access {
  const declared = operation['x-permission'];
  if (declared === 'none' || declared === 'token' || declared === 'account') return declared;
  const needed = [declared ?? []].flat();
  if (needed.length > 0 && needed.every((p) => PERMISSIONS.has(p))) return needed as Permission[];
  throw invalid(`operation ${operation.operationId} has no valid x-permission`);
}
