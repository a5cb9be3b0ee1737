import type { JsonSchema, OpenApiDocument, OperationObject } from '../../openapi/objects.ts';
import { bodySchemaOf, type PathOperation, parametersOf, resolveReference } from '../../openapi/reading.ts';
import type { Hints } from './schema-check.ts';

/**
 * What to say of fields that an operation does not take although its answer shows them, or the call that makes such an
 * object takes them: those of an object that is changed are refused as fixed, whatever their value is, and whether or
 * not unknown fields are ignored.
 */
export function fieldHints(document: OpenApiDocument, placed: PathOperation): Hints {
  const { path, operation } = placed;
  const shown = answerOf(document, operation);
  const changes = isChange(document, placed);
  const creates = '201' in operation.responses;
  const maker = document.paths[path.replace(/\/\{\w+\}$/, '')]?.post;
  const made = changes && maker ? bodySchemaOf(document, maker) : null;
  const inQuery = new Set(parametersOf(document, operation).flatMap((p) => (p.in === 'query' ? [p.name] : [])));
  return {
    hintOf(place, key) {
      const steps = [...place.split('.').slice(1), key];
      const isShown = shown !== null && hasProperty(document, shown, steps);
      if (changes && (isShown || (made !== null && hasProperty(document, made, steps)))) {
        const other = steps.length === 1 ? operation['x-changed-by']?.[key] : undefined;
        return { message: `cannot be changed${other ? `; use ${other}` : ''}`, isRefused: true };
      }
      if (creates && isShown) return { message: 'cannot be set', isRefused: false };
      if (steps.length > 1 || !inQuery.has(key)) return null;
      return { message: `unknown field "${key}"; it is a parameter of the query`, isRefused: false };
    },
  };
}

/** Whether a call changes something that is there: by its method, or because a GET shows the same thing at its address. */
function isChange(document: OpenApiDocument, { path, method, operation }: PathOperation): boolean {
  if (method !== 'post') return method === 'patch' || method === 'put';
  const read = document.paths[path]?.get;
  const schema = answerOf(document, operation);
  return read !== undefined && schema !== null && answerOf(document, read) === schema;
}

function answerOf(document: OpenApiDocument, operation: OperationObject): JsonSchema | null {
  const response = (operation.responses['200'] ?? operation.responses['201']) as
    | { content?: Record<string, { schema: JsonSchema }> }
    | undefined;
  const schema = response?.content?.['application/json']?.schema;
  return schema ? resolveReference<JsonSchema>(document, schema) : null;
}

/** Whether a schema, or any of its branches, describes what is at the end of a path. */
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
