import { setImmediate } from 'node:timers/promises';
import type { Request, RequestHandler, Response } from 'express';
import { type error as EovErrors, middleware as openApiMiddleware } from 'express-openapi-validator';
import { DomainError, type ErrorDetail } from '../../../domain/common/errors.ts';
import { MAX_FAULTS } from '../../../services/common/fields.ts';
import type { UnknownKeys } from '../checks/findings.ts';
import { prepareRequestCheck, type RequestCheck } from '../checks/request-check.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import type { Operation } from '../operations.ts';

/** What a request brings, beside its path. */
export interface RequestInput {
  /** Behind the question mark. */
  queryString: string;
  /** Undefined when there is none. */
  body: unknown;
  params: Record<string, string | number>;
}

/** Checks requests, and in tests answers, against the document. */
export interface Validator {
  /**
   * Checks parameters and body. What is unknown and ignored is taken out of the body and named in a header of the answer.
   *
   * @returns the declared parameters of the query as values
   * @throws {DomainError} InvalidParameter naming every fault, twenty at most; NotFound for a key that cannot be one
   */
  checkRequest(
    operation: Operation,
    req: Request,
    res: Response,
    input: RequestInput,
  ): Promise<Record<string, unknown>>;
  /**
   * Prepares every operation that no request has asked for yet, one at a time between requests.
   *
   * @throws when a schema cannot be compiled, or an operation is shadowed by another
   */
  prepareAll(): Promise<void>;
  /** Throws when an answer does not fit the document. Null when answers are not checked. */
  checkAnswer: ((operation: Operation, req: Request, status: number, body: unknown) => Promise<void>) | null;
}

type Metadata = NonNullable<OpenApiRequest['openapi']>;
interface OpenApiRequest extends Request {
  openapi?: { pathParams: Record<string, unknown>; schema: { operationId: string } };
}
type Step = RequestHandler;
/** Puts on a request what the validator's route lookup would have found. */
type Prepare = (operation: Operation, req: OpenApiRequest, params: Record<string, unknown>) => Promise<void>;

/**
 * Prepares express-openapi-validator; an operation is prepared when it is first asked for, or by `prepareAll`.
 *
 * @remarks Its own route lookup compiles one pattern per preceding route and request. Requests are routed before, so
 * the lookup runs once per operation here, and its result is put on each request instead.
 */
export function createValidator(
  document: OpenApiDocument,
  operations: readonly Operation[],
  options: { validateResponses: boolean; unknownKeys: UnknownKeys },
): Validator {
  const steps = openApiMiddleware({
    apiSpec: validatedPart(document) as never,
    validateRequests: { allowUnknownQueryParameters: true, coerceTypes: false },
    validateResponses: options.validateResponses && { removeAdditional: false, coerceTypes: false },
    // The document is fixed at build time: tests hold it to the OpenAPI schema, a start need not.
    validateApiSpec: options.validateResponses,
    validateSecurity: false,
    fileUploader: false,
  }) as unknown as Step[];
  const step = (name: string): Step => {
    const found = steps.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`express-openapi-validator has no ${name}`);
    return found;
  };
  const validate = step('requestMiddleware');
  const basePath = document.servers[0]!.url;
  const lookup = [step('pathParamsMiddleware'), step('metadataMiddleware')];
  const known = new Map<Operation, Promise<Metadata>>();
  const metadataOf = (operation: Operation): Promise<Metadata> => {
    const metadata = known.get(operation) ?? learn(operation, basePath, lookup);
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
      const { query, ignored, refusal } = checkOf(operation)(queryString, body);
      if (ignored !== null) res.setHeader('Flotilla-Ignored', ignored);
      if (refusal) throw refusal;
      if (!operation.takesBody && operation.queryParameters.size === 0) return query;
      req.body = body;
      Object.defineProperty(req, 'query', { value: query, writable: true, configurable: true });
      await prepare(operation, req, params);
      // The media type is checked already; the validator would keep compiled schemas for every spelling of it.
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
    checkAnswer: options.validateResponses ? answerChecker(step('responseMiddleware'), prepare) : null,
  };
}

const JSON_TYPE = 'application/json';

/** The validator checks what goes through `res.json`; it gets a response of its own, so that the real one stays unsent. */
function answerChecker(hook: Step, prepare: Prepare) {
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

/** Runs the validator's route lookup once, for a sample address of the operation. */
async function learn(operation: Operation, basePath: string, lookup: readonly Step[]): Promise<Metadata> {
  let sample = operation.path;
  for (const { name } of operation.pathParameters) sample = sample.replace(`{${name}}`, '1');
  const req = sampleRequest(operation, `${basePath}${sample}`);
  for (const step of lookup) await run(step, req, {} as Response);
  if (req.openapi?.schema.operationId !== operation.id) {
    throw new Error(`OpenAPI: ${operation.path} is shadowed by ${req.openapi?.schema.operationId}`);
  }
  return req.openapi;
}

/** Compiles the schemas of an operation: a refusal of the empty sample is fine, anything else is a broken schema. */
async function warmUp(operation: Operation, metadata: Metadata, validate: Step): Promise<void> {
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

/** Runs one step; `late` hears of errors it reports after having let the request pass. */
function run(step: Step, req: Request, res: Response, late?: (error: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    try {
      void step(req, res, (error?: unknown) => {
        if (!error) return resolve();
        late?.(error);
        reject(error as Error);
      });
    } catch (error) {
      reject(error as Error);
    }
  });
}

/** What our own check lets pass and the validator refuses is refused in its words. */
function toDomainError(error: unknown): unknown {
  const { status, errors } = error as Partial<InstanceType<typeof EovErrors.BadRequest>>;
  if (status === 415) return new DomainError('UnsupportedMediaType', 'The body must be typed application/json');
  if (status !== 400 || !errors) return error;
  const details = errors.slice(0, MAX_FAULTS).map(({ path, message }): ErrorDetail => {
    return { path: path.replace(/^\//, '').replaceAll('/', '.'), message };
  });
  const first = details[0];
  return new DomainError('InvalidParameter', first ? `${first.path} ${first.message}` : 'The request is not valid', {
    details,
  });
}

/** The document as the validator holds requests to it. */
function validatedPart(document: OpenApiDocument): OpenApiDocument {
  const copy = structuredClone(document);
  openForReservedCharacters(copy);
  leaveToServices(copy);
  return copy;
}

/** Clients send `query=tag:web` and times unescaped; the validator would refuse their colons. */
function openForReservedCharacters(document: OpenApiDocument): void {
  const open = (parameter: unknown) => {
    const { in: place } = parameter as { in?: string };
    if (place === 'query') (parameter as { allowReserved?: boolean }).allowReserved = true;
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) operation?.parameters?.forEach(open);
  }
  Object.values(document.components['parameters'] ?? {}).forEach(open);
}

/** `x-service-checks` names keywords that tell clients what services check, and refuse in plainer words. */
function leaveToServices(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Record<string, unknown>;
  const left = schema['x-service-checks'];
  if (Array.isArray(left)) for (const keyword of left) delete schema[keyword as string];
  for (const child of Object.values(schema)) leaveToServices(child);
}
