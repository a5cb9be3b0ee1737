import type { ErrorCode } from '../../domain/common/errors.ts';
import type { Config } from '../../process/config.ts';
import type { SelectorLanguage } from './selector-hints.ts';

export type JsonSchema = Record<string, unknown>;

export interface ParameterObject {
  name: string;
  in: 'query' | 'path' | 'header' | 'cookie';
  required?: boolean;
  allowReserved?: boolean;
  /** A key that is only looked up: unstorable text gets 404 instead of 400. */
  'x-opaque'?: boolean;
  'x-selectors'?: SelectorLanguage;
  schema: JsonSchema;
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  parameters?: Array<ParameterObject | Reference>;
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, unknown>;
  security?: unknown[];
  /** A permission, several that must all hold, `account` (any administrator), `token` or `none`. */
  'x-permission': string | string[];
  /** Requires a token from a login with a password; 403 for one from an access key. */
  'x-login'?: boolean;
  /** Error codes by status, in addition to those that `error-responses.ts` derives. */
  'x-errors'?: Record<string, ErrorCode[]>;
  /** Does not access the database. */
  'x-stateless'?: boolean;
  'x-feature'?: string;
  /** A GET that changes something. */
  'x-acts'?: boolean;
  'x-activity-ids'?: boolean;
  /** Read-only fields, with the operation that changes them. */
  'x-changed-by'?: Record<string, string>;
  /** The only kind of deployment with the operation; 404 on others. */
  'x-deployment'?: Config['deployment'];
  /** Largest body in bytes, if not 2 MiB. */
  'x-body-limit'?: number;
  /** The body may also be a form, and its media type is not checked. */
  'x-body-form'?: boolean;
}

interface Reference {
  $ref: string;
}

export type PathItem = Partial<Record<HttpMethod, OperationObject>>;

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: Array<{ url: string }>;
  paths: Record<string, PathItem>;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, JsonSchema> };
  [key: string]: unknown;
}

const HTTP_METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export interface PathOperation {
  path: string;
  method: HttpMethod;
  operation: OperationObject;
}

export function eachOperation(document: OpenApiDocument): PathOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    HTTP_METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}

/** With references resolved. */
export function parametersOf(document: OpenApiDocument, operation: OperationObject): ParameterObject[] {
  return (operation.parameters ?? []).map((p) => resolveReference<ParameterObject>(document, p));
}

/** The schema of the JSON body; null for an operation without one. @throws when its reference is unknown */
export function bodySchemaOf(document: OpenApiDocument, operation: OperationObject): JsonSchema | null {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema ? resolveReference<JsonSchema>(document, schema) : null;
}

/** Resolves a local reference such as `#/components/parameters/Limit`. */
export function resolveReference<T extends object>(document: OpenApiDocument, value: T | Reference): T {
  let current: unknown = value;
  while (isReference(current)) {
    const keys = current.$ref.replace('#/', '').split('/');
    current = keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
    if (current === undefined) throw new Error(`OpenAPI: nothing at ${keys.join('/')}`);
  }
  return current as T;
}

function isReference(value: unknown): value is Reference {
  return typeof value === 'object' && value !== null && typeof (value as Reference).$ref === 'string';
}
