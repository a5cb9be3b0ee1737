import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { type error as EovErrors, middleware as openApiMiddleware } from 'express-openapi-validator';
import { DomainError, type ErrorDetail } from '../../../domain/common/errors.ts';
import { MAX_FIELD_ERRORS } from '../../../services/common/fields.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { prepareRequestCheck, type RequestCheck } from '../checks/request-check.ts';
import type { UnknownKeys } from '../checks/request-faults.ts';
import type { Operation } from '../operations.ts';

export interface RequestInput {
  /** Without the question mark. */
  queryString: string;
  body: unknown;
  params: Record<string, string | number>;
}

/** Validates requests, and in tests responses, against the document. */
export interface Validator {
  /**
   * Validates parameters and body. Ignored unknown fields are removed from the body and named in a response header.
   * @returns the declared query parameters
   * @throws {DomainError} InvalidParameter naming up to twenty faults; NotFound for an impossible key
   */
  checkRequest(
    operation: Operation,
    req: Request,
    res: Response,
    input: RequestInput,
  ): Promise<Record<string, unknown>>;
  /**
   * Prepares all operations, one at a time between requests.
   * @throws when a schema cannot be compiled, or an operation is shadowed by another
   */
  prepareAll(): Promise<void>;
  /** Throws when a response does not match the document. Null when responses are not validated. */
  checkResponse: ((operation: Operation, req: Request, status: number, body: unknown) => Promise<void>) | null;
}

type Metadata = NonNullable<OpenApiRequest['openapi']>;
interface OpenApiRequest extends Request {
  openapi?: { pathParams: Record<string, unknown>; schema: { operationId: string } };
}
/** Sets on a request what the validator's own route lookup would have found. */
type Prepare = (operation: Operation, req: OpenApiRequest, params: Record<string, unknown>) => Promise<void>;

/**
 * Wraps express-openapi-validator; an operation is prepared by its first request or by `prepareAll`.
 * @remarks Its own route lookup compiles a pattern per preceding route and request. Our requests are routed already, so
 * the lookup runs once per operation, and its result is set on each request.
 */
export function createValidator(
  document: OpenApiDocument,
  operations: readonly Operation[],
  options: { validateResponses: boolean; unknownKeys: UnknownKeys },
): Validator {
  const middlewares = openApiMiddleware({
    apiSpec: validatedPart(document) as never,
    validateRequests: { allowUnknownQueryParameters: true, coerceTypes: false },
    validateResponses: options.validateResponses && { removeAdditional: false, coerceTypes: false },
    // The document is fixed at build time, and tests validate it.
    validateApiSpec: options.validateResponses,
    validateSecurity: false,
    fileUploader: false,
  }) as unknown as RequestHandler[];
  const middleware = (name: string): RequestHandler => {
    const found = middlewares.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`express-openapi-validator has no ${name}`);
    return found;
  };
  const validate = middleware('requestMiddleware');
  const basePath = document.servers[0]!.url;
  const lookup = [middleware('pathParamsMiddleware'), middleware('metadataMiddleware')];
  const known = new Map<Operation, Promise<Metadata>>();
  const metadataOf = (operation: Operation): Promise<Metadata> => {
    const metadata = known.get(operation) ?? lookUpMetadata(operation, basePath, lookup);
    known.set(operation, metadata);
    return metadata;
  };
  const prepare: Prepare = async (operation, req, params) => {
    req.openapi = { ...(await metadataOf(operation)), pathParams: params };
  };
  const checks = new Map<Operation, RequestCheck>();
  const checkOf = (operation: Operation): RequestCheck => {
    const check = checks.get(operation) ?? prepareRequestCheck(document, operation, options.unknownKeys);
    checks.set(operation, check);
    return check;
  };
  return {
    async checkRequest(operation, req, res, { queryString, body, params }) {
      const { query, ignored, error } = checkOf(operation)(queryString, body);
      if (ignored !== null) res.setHeader('Flotilla-Ignored', ignored);
      if (error) throw error;
      if (!operation.takesBody && operation.queryParameters.size === 0) return query;
      req.body = body;
      Object.defineProperty(req, 'query', { value: query, writable: true, configurable: true });
      await prepare(operation, req, params);
      // The media type is checked already; the validator would cache compiled schemas for every spelling of it.
      req.headers['content-type'] = JSON_TYPE;
      await run(validate, req, res).catch((error: unknown) => {
        throw toDomainError(error);
      });
      return query;
    },
    async prepareAll() {
      for (const operation of operations) {
        await setImmediate();
        checkOf(operation);
        await warmUp(operation, await metadataOf(operation), validate);
      }
    },
    checkResponse: options.validateResponses ? responseChecker(middleware('responseMiddleware'), prepare) : null,
  };
}

const JSON_TYPE = 'application/json';

/** The validator hooks into `res.json`, so it gets a dummy response. */
function responseChecker(hook: RequestHandler, prepare: Prepare) {
  return async (operation: Operation, req: OpenApiRequest, status: number, body: unknown): Promise<void> => {
    if (!req.openapi) await prepare(operation, req, {});
    const probe = {
      statusCode: status,
      headersSent: false,
      getHeaders: () => ({ 'content-type': JSON_TYPE }),
      json: (accepted: unknown) => accepted,
    } as unknown as Response;
    let misfit: unknown;
    await run(hook, req, probe, (error) => {
      misfit = error;
    });
    probe.json(body);
    if (misfit) throw misfit;
  };
}

/** Runs the validator's route lookup for a sample path of the operation. */
async function lookUpMetadata(
  operation: Operation,
  basePath: string,
  lookup: readonly RequestHandler[],
): Promise<Metadata> {
  let sample = operation.path;
  for (const { name } of operation.pathParameters) sample = sample.replace(`{${name}}`, '1');
  const req = sampleRequest(operation, `${basePath}${sample}`);
  for (const middleware of lookup) await run(middleware, req, {} as Response);
  if (req.openapi?.schema.operationId !== operation.id) {
    throw new Error(`OpenAPI: ${operation.path} is shadowed by ${req.openapi?.schema.operationId}`);
  }
  return req.openapi;
}

/** Compiles the schemas of an operation with an empty sample: any error except status 400 is a broken schema. */
async function warmUp(operation: Operation, metadata: Metadata, validate: RequestHandler): Promise<void> {
  const req = sampleRequest(operation, operation.path);
  req.openapi = metadata;
  await run(validate, req, {} as Response).catch((error: { status?: number }) => {
    if (error.status !== 400) throw new Error(`OpenAPI: ${operation.id} cannot be validated`, { cause: error });
  });
}

function sampleRequest(operation: Operation, path: string): OpenApiRequest {
  return {
    method: operation.method.toUpperCase(),
    originalUrl: path,
    url: path,
    path,
    baseUrl: '',
    headers: { 'content-type': JSON_TYPE },
    get: () => undefined,
    query: {},
    params: {},
    body: undefined,
    app: { enabled: () => false, param: () => undefined },
  } as unknown as OpenApiRequest;
}

/** Runs a middleware; `late` receives errors that it reports after it called `next`. */
function run(middleware: RequestHandler, req: Request, res: Response, late?: (error: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    try {
      void middleware(req, res, (error?: unknown) => {
        if (!error) return resolve();
        late?.(error);
        reject(error as Error);
      });
    } catch (error) {
      reject(error as Error);
    }
  });
}

/** For requests that pass our own check and fail the validator. */
function toDomainError(error: unknown): unknown {
  const { status, errors } = error as Partial<InstanceType<typeof EovErrors.BadRequest>>;
  if (status === 415) return new DomainError('UnsupportedMediaType', 'The Content-Type must be application/json');
  if (status !== 400 || !errors) return error;
  const details = errors.slice(0, MAX_FIELD_ERRORS).map(({ path, message }): ErrorDetail => {
    return { path: path.replace(/^\//, '').replaceAll('/', '.'), message };
  });
  const first = details[0];
  return new DomainError('InvalidParameter', first ? `${first.path} ${first.message}` : 'The request is invalid', {
    details,
  });
}

function validatedPart(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  allowReservedCharacters(copy);
  removeServiceChecks(copy);
  return copy;
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
