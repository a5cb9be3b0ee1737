import type { Request, RequestHandler, Response } from 'express';
import { DomainError, unauthorized } from '../../domain/common/errors.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import type { Config } from '../../process/config.ts';
import { CLIENT_CLOSED_REQUEST } from '../../process/http-response.ts';
import type { Logger } from '../../process/logger.ts';
import type { RequestMemory, RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import type { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import type { Caller, Principal } from '../../services/common/ports.ts';
import type { Authenticator } from '../../services/identity/login/authenticator.ts';
import { resolveDeprecatedPath } from '../http/deprecation.ts';
import type { OperationResponse } from '../http/handler.ts';
import { ERROR_STATUS, type ErrorResponse } from '../http/middleware/error-response.ts';
import { readFormBody } from '../http/middleware/form-body.ts';
import { readJsonBody } from '../http/middleware/json-body.ts';
import {
  hasDisconnected,
  isClientDisconnect,
  requestIdOf,
  sendJson,
  sendStream,
  toErrorResponse,
} from '../http/middleware/send.ts';
import type { Validator } from '../http/middleware/validator.ts';
import { isRead, type Operation } from '../http/operations.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { reserveRequestMemory } from '../http/request/request-memory.ts';
import { logRequest } from '../http/request-log.ts';
import { JsonText, RawBody } from '../http/response-bodies.ts';
import type { RouteTable } from '../http/route-table.ts';
import { withRequestSpan } from '../http/tracing.ts';

export interface DispatcherDeps {
  routes: RouteTable;
  validator: Validator;
  authenticator: Authenticator;
  /** Keys of the enabled features. */
  features: ReadonlySet<string>;
  deployment: Config['deployment'];
  clientAddress: ClientAddress;
  rateLimit: RateLimit;
  requestMemory: RequestMemoryLimit;
  /** Limits concurrent calls per account; null for no limit. */
  concurrency: ConcurrencyLimiter | null;
  logger: Logger;
  onRequestStart(): void;
  /** See {@link AppDeps.onRequestEnd}. */
  onRequestEnd(operationId: string, status: number, seconds: number): void;
}

interface RequestState {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  /** Null until the request is authenticated. */
  principal: Principal | null;
  operation: Operation | undefined;
  body: unknown;
}

const PREFIX = '/api';
const VERSION = '/v2';

/**
 * Serves every operation: route, authentication, permission, body, validation, handler, response.
 * @remarks At `/api/v2` and, for generated clients without a version, at `/api`.
 */
export function createDispatcher(deps: DispatcherDeps): RequestHandler {
  return async (req, res, next) => {
    const requested = apiPath(req.url);
    if (requested === null) return next();
    const { path, headers } = resolveDeprecatedPath(requested);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    const startedAt = performance.now();
    deps.onRequestStart();
    const requestId = requestIdOf(req);
    const state: RequestState = { req, res, requestId, principal: null, operation: undefined, body: undefined };
    const milliseconds = (): number => performance.now() - startedAt;
    const status = await withRequestSpan(req, requestId, async (describe) => {
      const status = await handle(deps, state, path);
      describe(state.operation, status);
      const { operation, principal, body } = state;
      logRequest(deps.logger, { method: req.method, operation, status, milliseconds: milliseconds(), principal, body });
      return status;
    });
    deps.onRequestEnd(state.operation?.id ?? 'none', status, milliseconds() / 1000);
  };
}

/** @returns the status to record: the one sent, 499 when the client disconnected, 500 when the response broke off */
async function handle(deps: DispatcherDeps, state: RequestState, path: string): Promise<number> {
  const { req, res, requestId } = state;
  try {
    const match = deps.routes.match(req.method, path);
    state.operation = match.operation;
    const response = await runOperation(deps, match.operation, match.params, state);
    state.body = response.body;
    await respond(deps.validator, match.operation, state, response);
  } catch (error) {
    if (res.headersSent) {
      res.destroy();
      if (isClientDisconnect(error)) return CLIENT_CLOSED_REQUEST;
      deps.logger.error({ requestId, err: error }, 'a response broke off');
      return ERROR_STATUS.InternalError;
    }
    sendJson(req, res, { ...declaredErrorResponse(deps, state.operation, error, requestId), requestId });
  }
  return hasDisconnected(req, res) && res.statusCode < ERROR_STATUS.InternalError
    ? CLIENT_CLOSED_REQUEST
    : res.statusCode;
}

async function runOperation(
  deps: DispatcherDeps,
  operation: Operation,
  params: Record<string, string | number>,
  state: RequestState,
): Promise<OperationResponse> {
  const { req, res, requestId } = state;
  const origin = { address: deps.clientAddress(req), requestId };
  const principal = await authenticate(deps, operation, req, origin.address);
  state.principal = principal;
  if (operation.deployment !== null && operation.deployment !== deps.deployment) {
    throw new DomainError('NotFound', `This deployment is not ${operation.deployment}`);
  }
  if (operation.feature !== null && !deps.features.has(operation.feature)) {
    throw new DomainError('FeatureNotEnabled', `This deployment has no ${operation.feature.replaceAll('-', ' ')}`);
  }
  const authorized = principal && (await authorizePrincipal(deps, operation, principal));
  return withRequestMemory(deps.requestMemory, state, origin.address, async (memory) => {
    const body = await readBody(operation, req, memory);
    const input = { queryString: queryOf(req.url), body, params };
    const query = await deps.validator.checkRequest(operation, req, res, input);
    return withSlot(deps.concurrency, principal, async () => {
      const current =
        authorized &&
        (isRead(operation, req.method) ? authorized : await authorizeCurrent(deps, operation, authorized));
      // Handlers of operations without authentication never use it.
      const caller = (current && { ...current, origin }) as Caller;
      return operation.handler({ caller, params, query, body, requestId, origin, request: req });
    });
  });
}

/** Counts a body until its handler returns, because what was parsed from it stays in memory until then. */
async function withRequestMemory<T>(
  limit: RequestMemoryLimit,
  { req, principal }: RequestState,
  address: string,
  work: (memory: RequestMemory) => Promise<T>,
): Promise<T> {
  const memory = reserveRequestMemory(limit, { address, isAuthenticated: principal !== null });
  try {
    return await work(memory);
  } finally {
    memory.release();
    // A keep-alive connection references its latest request.
    req.body = undefined;
  }
}

/** Calls of one account wait for each other before they delay those of others. */
function withSlot<T>(
  concurrency: ConcurrencyLimiter | null,
  principal: Principal | null,
  work: () => Promise<T>,
): Promise<T> {
  // Without a caller it is a login, which waits for a slot to hash in, or a cheap read.
  if (!concurrency || !principal) return work();
  return concurrency.run(principal.accountId, work);
}

async function readBody(operation: Operation, req: Request, memory: RequestMemory): Promise<unknown> {
  if (req.method === 'GET' || req.method === 'HEAD') return undefined;
  const { bodyLimitBytes, formFields } = operation;
  return formFields ? readFormBody(req, bodyLimitBytes, memory, formFields) : readJsonBody(req, bodyLimitBytes, memory);
}

const TOKEN_ERRORS: ReadonlySet<string> = new Set(['Unauthorized', 'AccountDisabled']);

/** Applies the rate limits before anything of the body is read. */
async function authenticate(
  { authenticator, rateLimit }: DispatcherDeps,
  operation: Operation,
  req: Request,
  address: string,
): Promise<Principal | null> {
  if (operation.access === 'none') {
    rateLimit.byAddress(address);
    return null;
  }
  try {
    const principal = await authenticator.authenticate(readBearer(req));
    rateLimit.byToken(principal.token.id);
    return principal;
  } catch (error) {
    // An invalid token counts against its address, and not against valid tokens from the same address.
    if (error instanceof DomainError && TOKEN_ERRORS.has(error.code)) rateLimit.byAddress(address);
    throw error;
  }
}

/** A failed authorization is repeated without the cache: a role may have been added since. */
async function authorizePrincipal(deps: DispatcherDeps, operation: Operation, cached: Principal): Promise<Principal> {
  try {
    authorize(operation, cached);
    return cached;
  } catch {
    return authorizeCurrent(deps, operation, cached);
  }
}

/** A body may take a minute to arrive: whoever was removed or lost a role meanwhile must not act. */
async function authorizeCurrent(
  { authenticator }: DispatcherDeps,
  operation: Operation,
  cached: Principal,
): Promise<Principal> {
  const principal = await authenticator.reauthenticate(cached);
  authorize(operation, principal);
  return principal;
}

function readBearer(req: Request): string {
  const header = req.headers.authorization;
  if (header === undefined || !/^bearer [^\s]+$/i.test(header)) throw unauthorized();
  return header.slice('bearer '.length);
}

function authorize({ access, needsLogin }: Operation, caller: Principal): void {
  if (needsLogin && caller.token.method === 'key') {
    throw new DomainError('Forbidden', 'A token from an access key may not do this; log in with a password');
  }
  if (access === 'token' || access === 'none') return;
  if (caller.accountName === '') throw new DomainError('NoAccount', 'The token has no current account');
  if (access === 'account') return;
  for (const permission of access) {
    if (!caller.may(permission)) throw new DomainError('Forbidden', `The permission ${permission} is needed`);
  }
}

async function respond(
  validator: Validator,
  operation: Operation,
  state: RequestState,
  response: OperationResponse,
): Promise<void> {
  const { req, res, requestId } = state;
  const { status = 200, body, headers = {}, stream } = response;
  if (stream) return await sendStream(req, res, { ...stream, headers, requestId });
  if (validator.checkResponse) await checkResponse(validator.checkResponse, operation, req, status, body);
  sendJson(req, res, { status, body, headers, requestId });
}

/** When responses are checked, an error that the document does not declare is a defect itself. */
function declaredErrorResponse(
  { validator, logger }: DispatcherDeps,
  operation: Operation | undefined,
  error: unknown,
  requestId: string,
): ErrorResponse {
  const response = toErrorResponse(error, requestId, logger);
  const { error: code } = response.body;
  if (!operation || !validator.checkResponse || operation.errorCodes.get(response.status)?.has(code)) return response;
  return toErrorResponse(new Error(`${operation.id} does not declare ${response.status} ${code}`), requestId, logger);
}

async function checkResponse(
  check: NonNullable<Validator['checkResponse']>,
  operation: Operation,
  req: Request,
  status: number,
  body: unknown,
): Promise<void> {
  if (!operation.statuses.has(status)) throw new Error(`${operation.id} does not declare status ${status}`);
  if (body === undefined || body instanceof RawBody) return;
  await check(operation, req, status, JSON.parse(body instanceof JsonText ? body.text : JSON.stringify(body)));
}

/** The path without prefix and version; null outside the API. */
function apiPath(url: string): string | null {
  if (!url.startsWith(`${PREFIX}/`)) return null;
  const end = url.indexOf('?');
  const path = url.slice(PREFIX.length, end === -1 ? undefined : end);
  if (path === VERSION || path.startsWith(`${VERSION}/`)) return path.slice(VERSION.length) || '/';
  return path;
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
