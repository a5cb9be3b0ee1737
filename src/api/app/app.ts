import express, { type Express, type RequestHandler } from 'express';
import { DomainError, serviceBusy } from '../../domain/common/errors.ts';
import { createClientAddress } from '../../process/client-address.ts';
import type { Config, Rate } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../../process/admission/concurrency-limiter.ts';
import { type Clock, systemClock } from '../../services/common/ports.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import { requestIdOf, sendJson, toErrorResponse } from '../http/middleware/send.ts';
import { createValidator } from '../http/middleware/validator.ts';
import { buildOperations } from '../http/operations.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { createRequestMemoryLimit } from '../http/request/request-memory.ts';
import { RouteTable } from '../http/route-table.ts';
import { loadDocument } from '../openapi/document.ts';
import { createDispatcher } from './dispatcher.ts';
import { createHandlers, type HandlerDeps } from './handlers.ts';
import { plainRoutes } from './plain-routes.ts';

export interface AppDeps extends HandlerDeps {
  deployment: Config['deployment'];
  logger: Logger;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[];
  clock?: Clock;
  /** Per token or address; absent or null for no limit. */
  rate?: Rate | null;
  /** Concurrent and waiting calls of accounts; absent for no limit. */
  concurrency?: ConcurrencyLimits;
  requestMemory?: RequestMemoryLimit;
  gateway?: RequestHandler;
  /** Serves `/codec/encode` and `/codec/decode` for the Temporal UI. */
  codec?: RequestHandler[];
  /** Prepares the validation of all operations in the background; otherwise each one's first request does. */
  prepareInBackground?: boolean;
  /** What happens to unknown parameters and fields; default: refuse. */
  unknownKeys?: Config['unknownKeys'];
  /** Validates responses against the document; for tests. */
  validateResponses?: boolean;
  onRequestStart?(): void;
  /** The status is 499 when the client disconnected, 500 when the response broke off. */
  onRequestEnd?(operationId: string, status: number, seconds: number): void;
}

/** @throws when an operation of the document has no handler, or the other way round */
export function createApp(deps: AppDeps): Express {
  const document = loadDocument();
  const operations = buildOperations(document, createHandlers(deps));
  const validator = createValidator(document, operations, {
    validateResponses: deps.validateResponses ?? false,
    unknownKeys: deps.unknownKeys ?? 'refuse',
  });
  if (deps.prepareInBackground) {
    void validator.prepareAll().catch((error: unknown) => {
      deps.logger.error({ err: error }, 'preparing the validation of requests failed');
    });
  }
  const dispatcher = createDispatcher({
    routes: new RouteTable(operations),
    validator,
    authenticator: deps.services.authenticator,
    deployment: deps.deployment,
    features: new Set(deps.services.features.flatMap(({ key, enabled }) => (enabled ? [key] : []))),
    clientAddress: createClientAddress(deps.trustedProxies ?? []),
    requestMemory: deps.requestMemory ?? createRequestMemoryLimit(),
    concurrency: deps.concurrency
      ? new ConcurrencyLimiter(deps.concurrency, () => serviceBusy('Too many requests at once'))
      : null,
    rateLimit: createRateLimit(deps.rate ?? null, deps.clock ?? systemClock),
    logger: deps.logger,
    onRequestStart: deps.onRequestStart ?? (() => undefined),
    onRequestEnd: deps.onRequestEnd ?? (() => undefined),
  });
  return assemble(deps.logger, [
    dispatcher,
    ...(deps.gateway ? [deps.gateway] : []),
    ...(deps.codec ? [under('/codec', deps.codec)] : []),
    plainRoutes({ document, readiness: deps.services.readiness, logger: deps.logger }),
  ]);
}

/** Serves agents, `/healthz` and `/readyz`. */
export function createGatewayApp(deps: { gateway: RequestHandler; readiness: Readiness; logger: Logger }): Express {
  return assemble(deps.logger, [deps.gateway, plainRoutes({ ...deps, document: null })]);
}

function assemble(logger: Logger, handlers: readonly RequestHandler[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  for (const handler of handlers) app.use(handler);
  app.use(notFound());
  app.use(lastErrorHandler(logger));
  return app;
}

function under(path: string, handlers: RequestHandler[]): RequestHandler {
  return express.Router().use(path, ...handlers);
}

function notFound(): RequestHandler {
  return () => {
    throw new DomainError('NotFound', 'There is nothing at this address');
  };
}

function lastErrorHandler(logger: Logger): express.ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const requestId = requestIdOf(req);
    sendJson(req, res, { ...toErrorResponse(error, requestId, logger), requestId });
  };
}
