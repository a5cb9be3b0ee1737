import {
  bodySchemaOf,
  eachOperation,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  resolveReference,
} from './objects.ts';

/** Closes bodies, but for objects without declared properties, and declares the header that names ignored fields. */
export function describeUnknownKeys(document: OpenApiDocument): void {
  const closed = new Set<JsonSchema>();
  for (const { operation } of eachOperation(document)) {
    const body = bodySchemaOf(document, operation);
    if (body) closeSchema(document, body, closed);
    declareIgnoredHeader(operation);
  }
}

/** Branches of a schema with properties only constrain these, so they stay open. */
function closeSchema(document: OpenApiDocument, given: JsonSchema, closed: Set<JsonSchema>): void {
  const schema = resolveReference<JsonSchema>(document, given);
  if (closed.has(schema)) return;
  closed.add(schema);
  if (schema['properties']) schema['additionalProperties'] ??= false;
  const branches = schema['properties'] ? [] : [schema['oneOf'], schema['anyOf'], schema['allOf']];
  const within = [Object.values(schema['properties'] ?? {}), schema['items'] ?? [], ...branches.map((b) => b ?? [])];
  for (const inner of within.flat() as JsonSchema[]) closeSchema(document, inner, closed);
}

function declareIgnoredHeader(operation: OperationObject): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    const described = response as { headers?: Record<string, unknown> };
    described.headers = { ...described.headers, 'Flotilla-Ignored': { $ref: '#/components/headers/Ignored' } };
  }
}
