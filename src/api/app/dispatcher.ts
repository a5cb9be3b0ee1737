import type { Request, RequestHandler, Response } from 'express';
import type { BodyBudget, HeldBody } from '../../process/body-budget.ts';
import type { Config } from '../../process/config.ts';
import { DomainError, unauthorized } from '../../domain/common/errors.ts';
import { CLIENT_CLOSED } from '../../process/http-answers.ts';
import type { Logger } from '../../process/logger.ts';
import type { Authenticator } from '../../services/identity/login/authenticator.ts';
import { inTurn } from '../../services/common/crowd.ts';
import type { FairGate } from '../../services/common/fair-gate.ts';
import type { Caller, Principal } from '../../services/common/ports.ts';
import { resolveAlias } from '../http/request/aliases.ts';
import { logAnswer } from '../http/answer-log.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { Reply } from '../http/handler.ts';
import { holdBody } from '../http/request/held-bodies.ts';
import { JsonText } from '../http/request/json-text.ts';
import { ERROR_STATUS, type ErrorReply } from '../http/middleware/error-body.ts';
import { readJsonBody } from '../http/middleware/json-body.ts';
import { readPairsBody } from '../http/middleware/pairs-body.ts';
import { hasLeft, isCutByClient, replyToError, requestIdOf, sendJson, sendStream } from '../http/middleware/send.ts';
import type { Validator } from '../http/middleware/validator.ts';
import { isRead, type Operation } from '../http/operations.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { RawBody } from '../http/request/raw-body.ts';
import { asRequest } from '../http/request-span.ts';
import type { RouteTable } from '../http/route-table.ts';

export interface DispatcherDeps {
  routes: RouteTable;
  validator: Validator;
  authenticator: Authenticator;
  /** Keys of the features that the deployment has. */
  features: ReadonlySet<string>;
  deployment: Config['deployment'];
  clientAddress: ClientAddress;
  rateLimit: RateLimit;
  /** What the bodies of requests under way take. */
  bodies: BodyBudget;
  /** Where calls of accounts wait for a place; null: nobody waits. */
  places: FairGate | null;
  logger: Logger;
  /** Told of every operation that begins, for metrics; `onAnswer` follows. */
  onArrival(): void;
  /** Told of every operation that has ended, for metrics; see `AppDeps`. */
  onAnswer(operationId: string, status: number, seconds: number): void;
}

/** A request on its way, and what has become known of it. */
interface Asked {
  readonly req: Request;
  readonly res: Response;
  readonly requestId: string;
  /** Null until it is known who asks. */
  principal: Principal | null;
  operation: Operation | undefined;
  /** Body of the operation's reply, once there is one. */
  body: unknown;
}

const PREFIX = '/api';
const VERSION = '/v2';

/**
 * The one way into every operation: route, caller, permission, body, validation, handler, answer.
 *
 * @remarks Answers below `/api/v2` and, for generated clients without a version, below `/api`.
 */
export function createDispatcher(deps: DispatcherDeps): RequestHandler {
  return async (req, res, next) => {
    const requested = apiPath(req.url);
    if (requested === null) return next();
    const { path, headers } = resolveAlias(requested);
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    const startedAt = performance.now();
    deps.onArrival();
    const requestId = requestIdOf(req);
    const asked: Asked = { req, res, requestId, principal: null, operation: undefined, body: undefined };
    const milliseconds = (): number => performance.now() - startedAt;
    const status = await asRequest(req, requestId, async (describe) => {
      const status = await attempt(deps, asked, path);
      describe(asked.operation, status);
      const { operation, principal, body } = asked;
      logAnswer(deps.logger, { method: req.method, operation, status, milliseconds: milliseconds(), principal, body });
      return status;
    });
    deps.onAnswer(asked.operation?.id ?? 'none', status, milliseconds() / 1000);
  };
}

/** @returns the status the request counts with: the one sent, unless nobody took it or it was not kept to */
async function attempt(deps: DispatcherDeps, asked: Asked, path: string): Promise<number> {
  const { req, res, requestId } = asked;
  try {
    const match = deps.routes.match(req.method, path);
    asked.operation = match.operation;
    const reply = await serve(deps, match.operation, match.params, asked);
    asked.body = reply.body;
    await answer(deps.validator, match.operation, asked, reply);
  } catch (error) {
    if (res.headersSent) {
      res.destroy();
      if (isCutByClient(error)) return CLIENT_CLOSED;
      deps.logger.error({ requestId, err: error }, 'an answer broke off');
      return ERROR_STATUS.InternalError;
    }
    sendJson(req, res, { ...refuse(deps, asked.operation, error, requestId), requestId });
  }
  return hasLeft(req, res) && res.statusCode < ERROR_STATUS.InternalError ? CLIENT_CLOSED : res.statusCode;
}

async function serve(
  deps: DispatcherDeps,
  operation: Operation,
  params: Record<string, string | number>,
  asked: Asked,
): Promise<Reply> {
  const { req, res, requestId } = asked;
  const origin = { address: deps.clientAddress(req), requestId };
  const principal = await identify(deps, operation, req, origin.address);
  asked.principal = principal;
  if (operation.deployment !== null && operation.deployment !== deps.deployment) {
    throw new DomainError('NotFound', `This deployment is not ${operation.deployment}`);
  }
  if (operation.feature !== null && !deps.features.has(operation.feature)) {
    throw new DomainError('FeatureNotEnabled', `This deployment has no ${operation.feature.replaceAll('-', ' ')}`);
  }
  const admitted = principal && (await admit(deps, operation, principal));
  return holding(deps.bodies, asked, origin.address, async (held) => {
    const body = await readBody(operation, req, held);
    const input = { queryString: queryOf(req.url), body, params };
    const query = await deps.validator.checkRequest(operation, req, res, input);
    return inPlace(deps.places, principal, async () => {
      const known = admitted && (isRead(operation, req.method) ? admitted : await askAgain(deps, operation, admitted));
      // Operations without a caller declare so in the document and never look at it.
      const caller = (known && { ...known, origin }) as Caller;
      return operation.handler({ caller, params, query, body, requestId, origin, request: req });
    });
  });
}

/** Counts a body until its handler is done, as what was parsed of it waits for a place and is worked on until then. */
async function holding<T>(
  bodies: BodyBudget,
  { req, principal }: Asked,
  address: string,
  work: (held: HeldBody) => Promise<T>,
): Promise<T> {
  const held = holdBody(bodies, { address, isKnown: principal !== null });
  try {
    return await work(held);
  } finally {
    held.release();
    // A connection keeps its latest request.
    req.body = undefined;
  }
}

/** Calls of one account wait behind each other before they make those of others wait. */
function inPlace<T>(places: FairGate | null, principal: Principal | null, work: () => Promise<T>): Promise<T> {
  // Without a caller there is a login or a look at what is installed: the first waits for its turn to be hashed.
  if (!places || !principal) return work();
  return inTurn(places, principal.accountId, 'Too many requests at once', work);
}

async function readBody(operation: Operation, req: Request, held: HeldBody): Promise<unknown> {
  if (req.method === 'GET' || req.method === 'HEAD') return undefined;
  const { bodyLimitBytes, bodyPairs } = operation;
  return bodyPairs ? readPairsBody(req, bodyLimitBytes, held, bodyPairs) : readJsonBody(req, bodyLimitBytes, held);
}

const REFUSED_TOKENS: ReadonlySet<string> = new Set(['Unauthorized', 'AccountDisabled']);

/** Who asks, counted against the limits before anything of the request is read. */
async function identify(
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
    const principal = await authenticator.authenticate(bearerOf(req));
    rateLimit.byToken(principal.token.id);
    return principal;
  } catch (error) {
    // What is refused counts by address, and takes nothing from those who come from there with a good token.
    if (error instanceof DomainError && REFUSED_TOKENS.has(error.code)) rateLimit.byAddress(address);
    throw error;
  }
}

/** Who is refused by what is remembered is asked for once more: a role may have come since. */
async function admit(deps: DispatcherDeps, operation: Operation, known: Principal): Promise<Principal> {
  try {
    authorize(operation, known);
    return known;
  } catch {
    return askAgain(deps, operation, known);
  }
}

/**
 * Who asks, as of now. A body takes a minute to arrive if its sender likes: who was removed or has lost a role by then
 * must not act.
 */
async function askAgain({ authenticator }: DispatcherDeps, operation: Operation, known: Principal): Promise<Principal> {
  const principal = await authenticator.askAgain(known);
  authorize(operation, principal);
  return principal;
}

function bearerOf(req: Request): string {
  const header = req.headers.authorization;
  if (header === undefined || !/^bearer [^\s]+$/i.test(header)) throw unauthorized();
  return header.slice('bearer '.length);
}

/** The one place where `x-permission` and `x-login` are held. */
function authorize({ access, needsLogin }: Operation, caller: Principal): void {
  if (needsLogin && caller.token.method === 'key') {
    throw new DomainError('Forbidden', 'A token from an access key may not do this: log in with a password');
  }
  if (access === 'token' || access === 'none') return;
  if (caller.accountName === '') throw new DomainError('NoAccount', 'The token has no current account');
  if (access === 'account') return;
  for (const permission of access) {
    if (!caller.may(permission)) throw new DomainError('Forbidden', `The permission ${permission} is needed`);
  }
}

async function answer(validator: Validator, operation: Operation, asked: Asked, reply: Reply): Promise<void> {
  const { req, res, requestId } = asked;
  const { status = 200, body, headers = {}, stream } = reply;
  if (stream) return await sendStream(req, res, { ...stream, headers, requestId });
  if (validator.checkAnswer) await checkAnswer(validator.checkAnswer, operation, req, status, body);
  sendJson(req, res, { status, body, headers, requestId });
}

/** The answer to what was thrown. Where answers are checked, one that the document does not have is a defect itself. */
function refuse(
  { validator, logger }: DispatcherDeps,
  operation: Operation | undefined,
  error: unknown,
  requestId: string,
): ErrorReply {
  const reply = replyToError(error, requestId, logger);
  const { error: code } = reply.body;
  if (!operation || !validator.checkAnswer || operation.refusals.get(reply.status)?.has(code)) return reply;
  return replyToError(new Error(`${operation.id} does not declare ${reply.status} ${code}`), requestId, logger);
}

async function checkAnswer(
  check: NonNullable<Validator['checkAnswer']>,
  operation: Operation,
  req: Request,
  status: number,
  body: unknown,
): Promise<void> {
  if (!operation.statuses.has(status)) throw new Error(`${operation.id} does not declare status ${status}`);
  if (body === undefined || body instanceof RawBody) return;
  await check(operation, req, status, JSON.parse(body instanceof JsonText ? body.text : JSON.stringify(body)));
}

/** The path below the version prefix, or null outside the API. */
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
