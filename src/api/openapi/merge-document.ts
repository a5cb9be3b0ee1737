import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { describeErrorResponses, errorCodesOf } from './error-responses.ts';
import { eachOperation, type JsonSchema, type OpenApiDocument, parametersOf } from './objects.ts';
import { describeUnknownKeys } from './unknown-keys.ts';

/** Merges files; adds error responses, security and closed bodies. @throws when two define the same path or schema */
export function mergeDocument(folder = import.meta.dirname): OpenApiDocument {
  const head = readYaml(join(folder, 'openapi.yaml')) as OpenApiDocument;
  const paths = mergeFolder(join(folder, 'paths')) as OpenApiDocument['paths'];
  const schemas = mergeFolder(join(folder, 'schemas')) as Record<string, JsonSchema>;
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
