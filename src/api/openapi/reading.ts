import {
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type Reference,
} from './objects.ts';

/** An operation of the document with its path template and method. */
export interface PathOperation {
  path: string;
  method: HttpMethod;
  operation: OperationObject;
}

/** Every operation of the document. */
export function eachOperation(document: OpenApiDocument): PathOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    HTTP_METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}

/** Parameters of an operation, references followed. */
export function parametersOf(document: OpenApiDocument, operation: OperationObject): ParameterObject[] {
  return (operation.parameters ?? []).map((p) => resolveReference<ParameterObject>(document, p));
}

/** Schema of the JSON body of an operation; null when it takes none. */
export function bodySchemaOf(document: OpenApiDocument, operation: OperationObject): JsonSchema | null {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema ? resolveReference<JsonSchema>(document, schema) : null;
}

/** Follows a local reference such as `#/components/parameters/Limit`. */
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
