import type { RequestHandler } from 'express';
import type { Operation } from '../operations.ts';
import { readFormBody } from './form-body.ts';
import { readJsonBody } from './json-body.ts';

/** Reads and parses the body. @throws {DomainError} PayloadTooLarge, UnsupportedMediaType, InvalidJson, ServiceUnavailable */
export function bodyParser({ bodyLimitBytes, formFields }: Operation): RequestHandler {
  return async (req, { locals: { memory } }, next) => {
    req.body = formFields
      ? await readFormBody(req, bodyLimitBytes, memory, formFields)
      : await readJsonBody(req, bodyLimitBytes, memory);
    next();
  };
}
