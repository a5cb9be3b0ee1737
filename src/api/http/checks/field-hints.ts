import {
  bodySchemaOf,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  parametersOf,
  type PathOperation,
  resolveReference,
} from '../../openapi/objects.ts';
import type { CheckContext } from './schema-check.ts';

/** Messages for fields that an operation does not accept, but its response or the object's creation has. */
export function fieldHints(document: OpenApiDocument, pathOperation: PathOperation): CheckContext['hintOf'] {
  const { operation } = pathOperation;
  const response = responseSchemaOf(document, operation);
  const isUpdate = isUpdateOperation(document, pathOperation);
  const isCreation = '201' in operation.responses;
  const creation = document.paths[pathOperation.path.replace(/\/\{\w+\}$/, '')]?.post;
  const created = isUpdate && creation ? bodySchemaOf(document, creation) : null;
  const inQuery = new Set(parametersOf(document, operation).flatMap((p) => (p.in === 'query' ? [p.name] : [])));
  return (parent, key) => {
    const path = [...parent.split('.').slice(1), key];
    const isShown = response !== null && hasProperty(document, response, path);
    if (isUpdate && (isShown || (created !== null && hasProperty(document, created, path)))) {
      const other = path.length === 1 ? operation['x-changed-by']?.[key] : undefined;
      return { message: `cannot be changed${other ? `; use ${other}` : ''}`, isReadOnly: true };
    }
    if (isCreation && isShown) return { message: 'cannot be set', isReadOnly: false };
    if (path.length > 1 || !inQuery.has(key)) return null;
    return { message: `unknown field "${key}"; it is a parameter of the query`, isReadOnly: false };
  };
}

function isUpdateOperation(document: OpenApiDocument, { path, method, operation }: PathOperation): boolean {
  if (method !== 'post') return method === 'patch' || method === 'put';
  const read = document.paths[path]?.get;
  const schema = responseSchemaOf(document, operation);
  return read !== undefined && schema !== null && responseSchemaOf(document, read) === schema;
}

function responseSchemaOf(document: OpenApiDocument, operation: OperationObject): JsonSchema | null {
  type Response = { content?: Record<string, { schema: JsonSchema }> } | undefined;
  const response = (operation.responses['200'] ?? operation.responses['201']) as Response;
  const schema = response?.content?.['application/json']?.schema;
  return schema ? resolveReference<JsonSchema>(document, schema) : null;
}

function hasProperty(document: OpenApiDocument, given: JsonSchema, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  const schema = resolveReference<JsonSchema>(document, given);
  const branches = [schema['oneOf'], schema['anyOf'], schema['allOf']].flatMap((list) => (list ?? []) as JsonSchema[]);
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const next = /^\d+$/.test(step) ? (schema['items'] as JsonSchema | undefined) : ownProperty(properties, step);
  if (next && hasProperty(document, next, rest)) return true;
  return branches.some((branch) => hasProperty(document, branch, [step, ...rest]));
}

function ownProperty(properties: Record<string, JsonSchema>, name: string): JsonSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
