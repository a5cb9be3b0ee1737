import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import {
  HTTP_METHODS,
  type HttpMethod,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type Reference,
} from './objects.ts';
import { describeRefusals, refusalsOf } from './refusals.ts';

export type { HttpMethod, JsonSchema, OpenApiDocument, OperationObject, ParameterObject } from './objects.ts';

/**
 * Merges the head, `paths/*.yaml` and `schemas/*.yaml` of a folder into one OpenAPI 3.1 document.
 * Every operation gets its error answers, and no security where it needs no token.
 *
 * @throws when two files define the same path or schema
 */
export function loadDocument(folder = import.meta.dirname): OpenApiDocument {
  const head = readYaml(join(folder, 'openapi.yaml')) as OpenApiDocument;
  const paths = mergeFolder(join(folder, 'paths')) as OpenApiDocument['paths'];
  const schemas = mergeFolder(join(folder, 'schemas')) as Record<string, JsonSchema>;
  const document = { ...head, paths, components: { ...head.components, schemas } };
  for (const { method, operation } of eachOperation(document)) {
    describeRefusals(document, operation, refusalsOf(operation, method, parametersOf(document, operation)));
    if (operation['x-permission'] === 'none') operation.security = [];
  }
  return document;
}

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

function mergeFolder(folder: string): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const file of readdirSync(folder).sort()) {
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
