import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from './objects.ts';

export * from './objects.ts';

/** The merged document as JSON, because reading the YAML files is slow: a fifth of the start of an API. */
export const DOCUMENT_FILE = join(import.meta.dirname, 'document.generated.json');

/** A copy of the document that `npm run generate` has merged. */
export function loadDocument(): OpenApiDocument {
  return JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8')) as OpenApiDocument;
}
