import { GLOBAL_PERMISSIONS, GROUP_PERMISSIONS, type Permission } from '../../domain/identity/permissions.ts';
import type { Config } from '../../process/config.ts';
import {
  bodySchemaOf,
  eachOperation,
  type HttpMethod,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type PathOperation,
  parametersOf,
  resolveReference,
} from '../openapi/document.ts';
import { type ErrorCodes, errorCodesOf, unknownCodeOf } from '../openapi/error-responses.ts';
import type { SelectorLanguage } from '../openapi/selector-hints.ts';
import { ERROR_STATUS } from '../../domain/common/errors.ts';

/** What a caller needs: nothing, a token, any role in the token's account, or all of the permissions. */
export type Access = 'none' | 'token' | 'account' | readonly Permission[];

/** Types of form fields. */
export type FormFieldType = 'integer' | 'boolean' | 'string';

/** `integers`: a list of them; `key`: text that is only looked up, so that an impossible value is not found. */
export type ParameterKind = 'integer' | 'integers' | 'boolean' | 'array' | 'string' | 'key';

export interface PathParameter {
  name: string;
  integer: boolean;
  /** Error code for a value that cannot be an id. */
  unknown: keyof typeof ERROR_STATUS;
}

/** One operation of the document, prepared for serving. */
export interface Operation {
  id: string;
  path: string;
  method: HttpMethod;
  access: Access;
  /** A token from an access key is not enough. */
  needsLogin: boolean;
  /** Feature that it requires; null for none. */
  feature: string | null;
  /** Changes something although it is a GET. */
  hasSideEffects: boolean;
  listsActivities: boolean;
  /** The only kind of deployment that has it; null for all. */
  deployment: Config['deployment'] | null;
  bodyLimitBytes: number;
  takesBody: boolean;
  needsBody: boolean;
  /** Fields of a body that may also be a form; null when only JSON is accepted. */
  formFields: ReadonlyMap<string, FormFieldType> | null;
  pathParameters: readonly PathParameter[];
  queryParameters: ReadonlyMap<string, ParameterKind>;
  /** Language of its parameter `query`; null for none. */
  selectors: SelectorLanguage | null;
  statuses: ReadonlySet<number>;
  errorCodes: ErrorCodes;
}

const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
const PERMISSIONS: ReadonlySet<string> = new Set([...GROUP_PERMISSIONS, ...GLOBAL_PERMISSIONS]);

/** The operations of the document, each of which has to get exactly one handler. */
export class Operations {
  readonly all: readonly Operation[];
  readonly #unserved: Map<string, Operation>;

  /** @throws naming every missing or unknown `x-permission`, repeated `operationId`, and path parameter without an error code */
  constructor(document: OpenApiDocument) {
    const problems: string[] = [];
    this.all = eachOperation(document).map((operation) => toOperation(document, operation, problems));
    this.#unserved = new Map(this.all.map((operation) => [operation.id, operation]));
    if (this.#unserved.size < this.all.length) problems.push('an operationId is used twice or missing');
    if (problems.length > 0) throw new Error(`The OpenAPI document is not valid: ${problems.join('; ')}`);
  }

  /** The operation of a handler. @throws when the document has none, or it has a handler already */
  serve(id: string): Operation {
    const operation = this.#unserved.get(id);
    if (!operation) throw new Error(`handler ${id} has no operation`);
    this.#unserved.delete(id);
    return operation;
  }

  /** @throws naming operations without handler */
  assertAllServed(): void {
    if (this.#unserved.size > 0) throw new Error(`no handler: ${[...this.#unserved.keys()].join(', ')}`);
  }
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Whether a request changes nothing. @param operation - undefined when no route matched */
export function isRead(operation: Operation | undefined, method: string): boolean {
  return READ_METHODS.has(method) && !operation?.hasSideEffects;
}

function toOperation(
  document: OpenApiDocument,
  { path, method, operation }: PathOperation,
  problems: string[],
): Operation {
  const parameters = parametersOf(document, operation);
  const kindOf = (p: ParameterObject) =>
    p['x-opaque'] ? 'key' : parameterKind(document, resolveReference<JsonSchema>(document, p.schema));
  const inPath = parameters.filter((p) => p.in === 'path');
  const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  for (const name of named)
    if (!inPath.some((p) => p.name === name)) problems.push(`${path}: {${name}} is not declared`);
  const pathParameters = inPath.map((p) => ({
    name: p.name,
    integer: kindOf(p) === 'integer',
    unknown: unknownCode(p.name, kindOf(p), problems),
  }));
  return {
    id: operation.operationId,
    path,
    method,
    access: readAccess(operation, problems),
    needsLogin: operation['x-login'] ?? false,
    feature: operation['x-feature'] ?? null,
    hasSideEffects: operation['x-acts'] ?? false,
    listsActivities: operation['x-activity-ids'] ?? false,
    deployment: operation['x-deployment'] ?? null,
    bodyLimitBytes: operation['x-body-limit'] ?? BODY_LIMIT_BYTES,
    takesBody: operation.requestBody !== undefined,
    needsBody: operation.requestBody?.required === true,
    formFields: operation['x-body-form'] ? formFieldsOf(document, operation) : null,
    pathParameters: named.flatMap((name) => pathParameters.filter((p) => p.name === name)),
    queryParameters: new Map(parameters.filter((p) => p.in === 'query').map((p) => [p.name, kindOf(p)])),
    selectors: parameters.find((p) => p['x-selectors'])?.['x-selectors'] ?? null,
    statuses: new Set(Object.keys(operation.responses).map(Number)),
    errorCodes: errorCodesOf(operation, method, parameters),
  };
}

function formFieldsOf(document: OpenApiDocument, operation: OperationObject): Map<string, FormFieldType> {
  const fields = Object.entries(bodySchemaOf(document, operation)!['properties'] as Record<string, JsonSchema>);
  return new Map(
    fields.map(([name, field]) => {
      const type = [resolveReference<JsonSchema>(document, field)['type']].flat()[0];
      return [name, type === 'integer' || type === 'boolean' ? type : 'string'];
    }),
  );
}

function parameterKind(document: OpenApiDocument, schema: JsonSchema): ParameterKind {
  const { type, items } = schema;
  if (type === 'array' && items) {
    return resolveReference(document, items as JsonSchema)['type'] === 'integer' ? 'integers' : 'array';
  }
  return type === 'integer' || type === 'boolean' || type === 'array' ? type : 'string';
}

function unknownCode(name: string, kind: ParameterKind, problems: string[]): keyof typeof ERROR_STATUS {
  if (kind !== 'integer') return 'NotFound';
  const code = unknownCodeOf(name);
  if (code in ERROR_STATUS) return code as keyof typeof ERROR_STATUS;
  problems.push(`path parameter ${name} needs the error code ${code}`);
  return 'NotFound';
}

function readAccess(operation: OperationObject, problems: string[]): Access {
  const declared = operation['x-permission'];
  if (declared === 'none' || declared === 'token' || declared === 'account') return declared;
  const needed = typeof declared === 'string' ? [declared] : (declared ?? []);
  if (needed.length > 0 && needed.every((p) => PERMISSIONS.has(p))) return needed as Permission[];
  problems.push(`operation ${operation.operationId} has no valid x-permission`);
  return [];
}
