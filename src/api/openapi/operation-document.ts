import type { OpenAPIV3 } from 'express-openapi-validator/dist/framework/types.js';
import { type HttpMethod, type OpenApiDocument, resolveReference } from './objects.ts';

/** A copy of the document without what express-openapi-validator must not check. */
export function prepareForValidator(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  allowReservedCharacters(copy);
  removeServiceChecks(copy);
  return copy;
}

/** The document of one operation, with the components that it needs, and its success response if wanted. */
export function documentOf(
  document: OpenApiDocument,
  { path, method, successStatus }: { path: string; method: HttpMethod; successStatus: number },
  withResponse: boolean,
): OpenAPIV3.DocumentV3_1 {
  const { security: _security, responses, ...rest } = document.paths[path]![method]!;
  const operation = { ...rest, responses: withResponse ? { [successStatus]: responses[successStatus] } : {} };
  const paths = { [path]: { [method]: operation } };
  const components: Record<string, Record<string, unknown>> = {};
  for (const reference of referencesIn(document, paths)) {
    const [, , kind, name] = reference.split('/');
    components[kind!] = { ...components[kind!], [name!]: resolveReference(document, { $ref: reference }) };
  }
  const { openapi, info } = document;
  const part = { openapi, info, paths, components };
  // The validator changes the document that it is given.
  return structuredClone(part) as unknown as OpenAPIV3.DocumentV3_1;
}

function referencesIn(document: OpenApiDocument, node: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof node !== 'object' || node === null) return found;
  const { $ref: reference } = node as { $ref?: unknown };
  if (typeof reference === 'string' && !found.has(reference)) {
    found.add(reference);
    referencesIn(document, resolveReference(document, { $ref: reference }), found);
  }
  for (const child of Object.values(node)) referencesIn(document, child, found);
  return found;
}

/** Clients send `query=tag:web` and times unescaped; the validator would reject their colons. */
function allowReservedCharacters(document: OpenApiDocument): void {
  const open = (parameter: unknown) => {
    const { in: place } = parameter as { in?: string };
    if (place === 'query') (parameter as { allowReserved?: boolean }).allowReserved = true;
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) operation?.parameters?.forEach(open);
  }
  Object.values(document.components['parameters'] ?? {}).forEach(open);
}

/** `x-service-checks` names keywords that services check, with better error messages. */
function removeServiceChecks(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Record<string, unknown>;
  const left = schema['x-service-checks'];
  if (Array.isArray(left)) for (const keyword of left) delete schema[keyword as string];
  for (const child of Object.values(schema)) removeServiceChecks(child);
}
