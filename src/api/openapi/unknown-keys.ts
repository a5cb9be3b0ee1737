import type { JsonSchema, OpenApiDocument, OperationObject } from './objects.ts';
import { bodySchemaOf, eachOperation, resolveReference } from './reading.ts';

/**
 * Writes into the document what holds for every operation: a body has no fields but those that are described, and an
 * answer names what was ignored where the server is set to ignore the others. Maps without described keys stay open.
 */
export function describeUnknownKeys(document: OpenApiDocument): void {
  const closed = new Set<JsonSchema>();
  for (const { operation } of eachOperation(document)) {
    const body = bodySchemaOf(document, operation);
    if (body) close(document, body, closed);
    nameIgnored(operation);
  }
}

/** Branches of a schema that has properties itself only say more about these, so that they stay open. */
function close(document: OpenApiDocument, given: JsonSchema, closed: Set<JsonSchema>): void {
  const schema = resolveReference<JsonSchema>(document, given);
  if (closed.has(schema)) return;
  closed.add(schema);
  if (schema['properties']) schema['additionalProperties'] ??= false;
  const branches = schema['properties'] ? [] : [schema['oneOf'], schema['anyOf'], schema['allOf']];
  const within = [Object.values(schema['properties'] ?? {}), schema['items'] ?? [], ...branches.map((b) => b ?? [])];
  for (const inner of within.flat() as JsonSchema[]) close(document, inner, closed);
}

function nameIgnored(operation: OperationObject): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    const described = response as { headers?: Record<string, unknown> };
    described.headers = { ...described.headers, 'Flotilla-Ignored': { $ref: '#/components/headers/Ignored' } };
  }
}
