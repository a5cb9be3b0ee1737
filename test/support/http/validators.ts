import type { Request, Response } from 'express';
import { createValidators, takesInput } from '../../../src/api/http/middleware/validate.ts';
import { readOperations } from '../../../src/api/http/operations.ts';
import { loadDocument, type OpenApiDocument } from '../../../src/api/openapi/document.ts';

const document = loadDocument();

/** Of all applications of a process, so that each operation is prepared once. */
export const VALIDATORS = createValidators(document, readOperations(document));

/** Compiles all schemas of requests, which happens with the first request otherwise. @throws when one is broken */
export async function compileSchemas(of: OpenApiDocument = document, validators = VALIDATORS): Promise<void> {
  for (const operation of readOperations(of).filter(takesInput)) {
    const validate = validators.requests.get(operation.id)!();
    const path = operation.path.replace(/\{\w+\}/g, '1');
    const sample = {
      method: operation.method.toUpperCase(),
      url: path,
      path,
      headers: { 'content-type': 'application/json' },
      get: () => undefined,
      query: {},
      app: { enabled: () => false, param: () => undefined },
    };
    await new Promise<void>((resolve, reject) => {
      void validate(sample as unknown as Request, {} as Response, (error?: unknown) => {
        // Nothing of the sample is valid.
        if (!error || (error as { status?: number }).status === 400) resolve();
        else reject(error as Error);
      });
    });
  }
}
