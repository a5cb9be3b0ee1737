import express, { type Express, type RequestHandler } from 'express';
import type { BodyBudget } from '../../process/body-budget.ts';
import type { Config, Rate } from '../../process/config.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { Logger } from '../../process/logger.ts';
import { FairGate, type FairGateLimits } from '../../services/common/fair-gate.ts';
import { type Clock, systemClock } from '../../services/common/ports.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import { createClientAddress } from '../http/client-address.ts';
import { createDispatcher } from './dispatcher.ts';
import { createHandlers, type HandlerDeps } from './handlers.ts';
import { createBodyBudget } from '../http/request/held-bodies.ts';
import { replyToError, requestIdOf, sendJson } from '../http/middleware/send.ts';
import { createValidator } from '../http/middleware/validator.ts';
import { loadDocument } from '../openapi/document.ts';
import { buildOperations } from '../http/operations.ts';
import { plainRoutes } from './plain-routes.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { RouteTable } from '../http/route-table.ts';

export interface AppDeps extends HandlerDeps {
  deployment: Config['deployment'];
  logger: Logger;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies?: readonly string[];
  /** For limits; default: the system's. */
  clock?: Clock;
  /** Requests of one token or address; absent or null for no limit. */
  rate?: Rate | null;
  /** Calls of accounts that are carried out at once, and that wait; absent for no bound. */
  places?: FairGateLimits;
  /** For bodies of requests; default: as large as the process can bear. */
  bodies?: BodyBudget;
  /** Serves the agents' paths; mounted before everything of the API. */
  gateway?: RequestHandler;
  /** Serves `/codec/encode` and `/codec/decode` for the Temporal UI. */
  codec?: RequestHandler[];
  /** Makes requests of every kind ready in the background; else each is made ready by the first of its kind. */
  prepareAhead?: boolean;
  /** What happens to parameters and fields that an operation does not know; default: refuse. */
  unknownKeys?: Config['unknownKeys'];
  /** Checks answers against the document; for tests. */
  validateResponses?: boolean;
  /** Told of every operation that begins. */
  onArrival?(): void;
  /** Told of every operation that has ended, with status 499 where the client left and 500 where the answer broke off. */
  onAnswer?(operationId: string, status: number, seconds: number): void;
}

/**
 * Builds the whole HTTP application without listening.
 *
 * @throws when the document and the handlers do not fit together
 */
export function createApp(deps: AppDeps): Express {
  const document = loadDocument();
  const operations = buildOperations(document, createHandlers(deps));
  const validator = createValidator(document, operations, {
    validateResponses: deps.validateResponses ?? false,
    unknownKeys: deps.unknownKeys ?? 'refuse',
  });
  if (deps.prepareAhead) {
    void validator.prepareAll().catch((error: unknown) => {
      deps.logger.error({ err: error }, 'the document does not describe all requests');
    });
  }
  const dispatcher = createDispatcher({
    routes: new RouteTable(operations),
    validator,
    authenticator: deps.services.authenticator,
    deployment: deps.deployment,
    features: new Set(deps.services.features.flatMap(({ key, enabled }) => (enabled ? [key] : []))),
    clientAddress: createClientAddress(deps.trustedProxies ?? []),
    bodies: deps.bodies ?? createBodyBudget(),
    places: deps.places ? new FairGate(deps.places) : null,
    rateLimit: createRateLimit(deps.rate ?? null, deps.clock ?? systemClock),
    logger: deps.logger,
    onArrival: deps.onArrival ?? (() => undefined),
    onAnswer: deps.onAnswer ?? (() => undefined),
  });
  return assemble(deps.logger, [
    dispatcher,
    ...(deps.gateway ? [deps.gateway] : []),
    ...(deps.codec ? [under('/codec', deps.codec)] : []),
    plainRoutes({ document, readiness: deps.services.readiness, logger: deps.logger }),
  ]);
}

/** An application that serves agents alone, with `/healthz` and `/readyz`. */
export function createGatewayApp(deps: { gateway: RequestHandler; readiness: Readiness; logger: Logger }): Express {
  return assemble(deps.logger, [deps.gateway, plainRoutes({ ...deps, document: null })]);
}

function assemble(logger: Logger, handlers: readonly RequestHandler[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  for (const handler of handlers) app.use(handler);
  app.use(nothingHere());
  app.use(lastErrorHandler(logger));
  return app;
}

function under(path: string, handlers: RequestHandler[]): RequestHandler {
  return express.Router().use(path, ...handlers);
}

function nothingHere(): RequestHandler {
  return () => {
    throw new DomainError('NotFound', 'There is nothing at this address');
  };
}

/** Whatever a mounted router throws answers in the same shape. */
function lastErrorHandler(logger: Logger): express.ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const requestId = requestIdOf(req);
    sendJson(req, res, { ...replyToError(error, requestId, logger), requestId });
  };
}
