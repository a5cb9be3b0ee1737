import {
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type Reference,
} from './objects.ts';

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
