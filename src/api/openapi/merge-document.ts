import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { describeErrorResponses, errorCodesOf } from './error-responses.ts';
import {
  bodySchemaOf,
  eachOperation,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  parametersOf,
  resolveReference,
} from './objects.ts';

const FOLDER = import.meta.dirname;

/** Merges files; adds error responses, security and closed bodies. @throws when two define the same path or schema */
export function mergeDocument(): OpenApiDocument {
  const head = readYaml(join(FOLDER, 'openapi.yaml')) as OpenApiDocument;
  const paths = mergeFolder(join(FOLDER, 'paths')) as OpenApiDocument['paths'];
  const schemas = mergeFolder(join(FOLDER, 'schemas')) as Record<string, JsonSchema>;
  const document = { ...head, paths, components: { ...head.components, schemas } };
  describeUnknownKeys(document);
  for (const { method, operation } of eachOperation(document)) {
    describeErrorResponses(document, operation, errorCodesOf(operation, method, parametersOf(document, operation)));
    if (operation['x-permission'] === 'none') operation.security = [];
  }
  return document;
}

function mergeFolder(folder: string): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true });
  for (const file of files.sort((a, b) => basename(a).localeCompare(basename(b)))) {
    if (!file.endsWith('.yaml')) continue;
    for (const [key, value] of Object.entries(readYaml(join(folder, file)) ?? {})) {
      if (key in merged) throw new Error(`OpenAPI: ${key} is defined twice, the second time in ${basename(file)}`);
      merged[key] = value;
    }
  }
  return merged;
}

function readYaml(path: string): Record<string, unknown> {
  return parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}

/** Closes bodies, but for objects without declared properties, and declares the header that names ignored fields. */
function describeUnknownKeys(document: OpenApiDocument): void {
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
