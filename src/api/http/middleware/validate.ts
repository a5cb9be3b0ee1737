import { type Request, type RequestHandler, type Response, Router } from 'express';
import {
  type BadRequest,
  OpenApiValidator,
  type OpenApiValidatorOpts,
} from 'express-openapi-validator/dist/openapi.validator.js';
import type { OpenAPIV3 } from 'express-openapi-validator/dist/framework/types.js';
import { DomainError, type ErrorDetail } from '../../../domain/common/errors.ts';
import { MAX_FIELD_ERRORS } from '../../../services/common/fields.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { documentOf, prepareForValidator } from '../../openapi/operation-document.ts';
import { prepareRequestCheck } from '../checks/request-check.ts';
import type { UnknownKeys } from '../checks/request-faults.ts';
import { JsonText } from '../handler.ts';
import type { Operation } from '../operations.ts';

export type ResponseCheck = (operation: Operation, req: Request, body: unknown) => Promise<void>;

const JSON_TYPE = 'application/json';

/**
 * One validator of requests and one of responses for each operation, made when first needed. They hold no state of an
 * application, so that several in one process can share them.
 * @see docs/decisions/0013-openapi-first.md#the-validator
 */
export function createValidators(document: OpenApiDocument, operations: readonly Operation[]) {
  const source = prepareForValidator(document);
  const byId = <T>(of: readonly Operation[], create: (operation: Operation) => T) =>
    new Map(of.map((operation) => [operation.id, once(() => create(operation))]));
  return {
    requests: byId(operations.filter(takesInput), (operation) => requestValidator(source, operation)),
    responses: byId(operations, (operation) => responseValidator(source, operation)),
  };
}

export type Validators = ReturnType<typeof createValidators>;

/** Checks requests against the document. */
export function createValidation(
  document: OpenApiDocument,
  operations: readonly Operation[],
  { validators, unknownKeys }: { validators: Validators; unknownKeys: UnknownKeys },
) {
  const checks = new Map(
    operations.map((operation) => [operation, once(() => prepareRequestCheck(document, operation, unknownKeys))]),
  );
  const validatorOf = (operation: Operation) => (takesInput(operation) ? validators.requests.get(operation.id)! : null);
  return {
    /** Removes ignored fields from the body. @throws {DomainError} InvalidParameter; NotFound for an impossible key */
    validate(operation: Operation): RequestHandler {
      const check = checks.get(operation)!;
      const validator = validatorOf(operation);
      return (req, res, next) => {
        const start = req.url.indexOf('?');
        const { query, ignored, error } = check()(start === -1 ? '' : req.url.slice(start + 1), req.body);
        if (ignored !== null) res.setHeader('Flotilla-Ignored', ignored);
        if (error) throw error;
        res.locals.query = query;
        if (!validator) return next();
        Object.defineProperty(req, 'query', { value: query, writable: true, configurable: true });
        // The media type is checked already; the validator would cache compiled schemas for every spelling of it.
        req.headers['content-type'] = JSON_TYPE;
        const { method } = req;
        // The document has no HEAD, and the validator would reject it.
        if (method === 'HEAD') req.method = 'GET';
        validator()(req, res as Response, (error?: unknown) => {
          req.method = method;
          next(error && toDomainError(error));
        });
      };
    },
  };
}

/** Checks responses in tests, in the same way. */
export function createResponseCheck({ responses }: Validators): ResponseCheck {
  return async (operation, req, body) => {
    // The validator does not support HEAD.
    if (body === undefined || body instanceof Uint8Array || req.method === 'HEAD') return;
    const validator = responses.get(operation.id)!();
    const text = body instanceof JsonText ? body.text : JSON.stringify(body);
    await checkResponse(validator, req, operation.successStatus, text);
  };
}

/** Whether a request has anything to check. */
export function takesInput({ takesBody, queryParameters }: Operation): boolean {
  return takesBody || queryParameters.size > 0;
}

function once<T>(create: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= create());
}

const OPTIONS = { validateSecurity: false, fileUploader: false, useRequestUrl: true } as const;

function requestValidator(source: OpenApiDocument, operation: Operation): RequestHandler {
  const validateRequests = { allowUnknownQueryParameters: true, coerceTypes: false };
  return Router().use(createValidator(operation, documentOf(source, operation, false), { validateRequests }));
}

function responseValidator(source: OpenApiDocument, operation: Operation): RequestHandler[] {
  const validateResponses = { removeAdditional: false, coerceTypes: false };
  const document = documentOf(source, operation, true);
  return createValidator(operation, document, { validateRequests: false, validateResponses });
}

/** Does without the loader of the package, which compiles the schema of OpenAPI itself for every document. */
function createValidator(
  { path, route, method }: Operation,
  apiDoc: OpenAPIV3.DocumentV3_1,
  checks: Pick<OpenApiValidatorOpts, 'validateRequests' | 'validateResponses'>,
): RequestHandler[] {
  // Without names of path parameters: the package would register a handler for each with the application.
  const only = { basePath: '', openApiRoute: path, expressRoute: route, method: method.toUpperCase(), pathParams: [] };
  const validator = new OpenApiValidator({ apiSpec: apiDoc, ...checks, ...OPTIONS });
  const spec = Promise.resolve({ apiDoc, basePaths: [''], routes: [only], serial: 0 });
  return validator.installMiddleware(spec) as RequestHandler[];
}

/** The validator hooks into `res.json`, so it gets a dummy response. */
async function checkResponse(validator: readonly RequestHandler[], req: Request, status: number, text: string) {
  const probe = {
    statusCode: status,
    headersSent: false,
    getHeaders: () => ({ 'content-type': JSON_TYPE }),
    json: (accepted: unknown) => accepted,
  } as unknown as Response;
  let misfit: unknown;
  for (const handler of validator) {
    await run(handler, req, probe, (error) => {
      misfit = error;
    });
  }
  probe.json(JSON.parse(text));
  if (misfit) throw misfit;
}

function run(handler: RequestHandler, req: Request, res: Response, late?: (error: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    void handler(req, res, (error?: unknown) => {
      if (!error) return resolve();
      late?.(error);
      reject(error as Error);
    });
  });
}

function toDomainError(error: unknown): unknown {
  const { status, errors } = error as Partial<BadRequest>;
  if (status === 415) return new DomainError('UnsupportedMediaType', 'The Content-Type must be application/json');
  if (status !== 400 || !errors) return error;
  const details = errors.slice(0, MAX_FIELD_ERRORS).map(({ path, message }): ErrorDetail => {
    return { path: path.replace(/^\//, '').replaceAll('/', '.'), message };
  });
  const first = details[0];
  const message = first ? `${first.path} ${first.message}` : 'The request is invalid';
  return new DomainError('InvalidParameter', message, { details });
}
