import express, { type Express, type RequestHandler, type Router } from 'express';
import { DomainError, serviceBusy } from '../../domain/common/errors.ts';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../../process/admission/concurrency-limiter.ts';
import type { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import type { Config, Rate } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import { type Clock, systemClock } from '../../services/common/ports.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { createRouter, type Handler, type OperationId } from '../http/handler.ts';
import { admission } from '../http/middleware/admission.ts';
import { authenticate } from '../http/middleware/authenticate.ts';
import { authorize, authorizeAgain } from '../http/middleware/authorize.ts';
import { bodyParser } from '../http/middleware/body-parser.ts';
import { clientAddress } from '../http/middleware/client-address.ts';
import { errorHandler } from '../http/middleware/error-handler.ts';
import { handle } from '../http/middleware/handle.ts';
import { matchOperation } from '../http/middleware/match-operation.ts';
import { normalizePath } from '../http/middleware/normalize-path.ts';
import { rateLimit } from '../http/middleware/rate-limit.ts';
import { requestId } from '../http/middleware/request-id.ts';
import { type RequestListeners, requestLog } from '../http/middleware/request-log.ts';
import { createRequestMemoryLimit, requestMemory } from '../http/middleware/request-memory.ts';
import { trace } from '../http/middleware/trace.ts';
import { unmatched } from '../http/middleware/unmatched.ts';
import {
  createResponseCheck,
  createValidation,
  createValidators,
  type Validators,
} from '../http/middleware/validate.ts';
import { type Operation, readOperations } from '../http/operations.ts';
import { loadDocument, type OpenApiDocument } from '../openapi/document.ts';
import { createHandlers } from './handlers.ts';
import { plainRoutes } from './plain-routes.ts';

export interface AppDeps extends RequestListeners {
  services: Services;
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
  deployment: Config['deployment'];
  logger: Logger;
  trustedProxies?: readonly string[];
  clock?: Clock;
  rate?: Rate | null;
  concurrency?: ConcurrencyLimits;
  requestMemory?: RequestMemoryLimit;
  gateway?: RequestHandler;
  codec?: RequestHandler[];
  /** Of the document, if another application of the process has them. */
  validators?: Validators;
  /** What happens to unknown parameters and fields; default: refuse. */
  unknownKeys?: Config['unknownKeys'];
  validateResponses?: boolean;
}

export function createApp(deps: AppDeps): Express {
  const { services, logger, gateway, codec, validateResponses } = deps;
  const document = loadDocument();
  const app = createExpress();
  // Generated clients leave the version out.
  app.use(['/api/v2', '/api'], createApi(deps, document));
  if (gateway) app.use(gateway);
  if (codec) app.use('/codec', ...codec);
  return app.use(
    plainRoutes({ document, readiness: services.readiness }),
    notFound,
    errorHandler(logger, validateResponses),
  );
}

function createApi(deps: AppDeps, document: OpenApiDocument): Router {
  const operations = readOperations(document);
  const none = unmatched(operations);
  return (
    createRouter()
      .use(requestId())
      .use(clientAddress(deps.trustedProxies ?? []))
      .use(trace())
      .use(requestLog(deps.logger, deps))
      .use(normalizePath())
      // Express would respond to these itself.
      .options('/{*path}', none)
      .use(routes(deps, document, operations))
      .use(none)
  );
}

/** Each operation at its route. Nothing of a body is read before the caller is known and admitted. */
function routes(deps: AppDeps, document: OpenApiDocument, operations: readonly Operation[]): Router {
  const { authenticator, features } = deps.services;
  const enabled = features.flatMap(({ key, enabled }) => (enabled ? [key] : []));
  const offer = { deployment: deps.deployment, features: new Set(enabled) };
  const limit = rateLimit(deps.rate ?? null, deps.clock ?? systemClock);
  const memoryLimit = deps.requestMemory ?? createRequestMemoryLimit();
  const busy = () => serviceBusy('Too many requests at once');
  const concurrency = deps.concurrency ? new ConcurrencyLimiter(deps.concurrency, busy) : null;
  const validators = deps.validators ?? createValidators(document, operations);
  const validation = createValidation(document, operations, { validators, unknownKeys: deps.unknownKeys ?? 'refuse' });
  const sending = {
    publicUrl: deps.publicUrl,
    checkResponse: deps.validateResponses ? createResponseCheck(validators) : null,
  };
  const handlers = createHandlers(deps.services);
  const router = createRouter();
  for (const operation of operations) {
    const body = operation.method === 'get' ? [] : [requestMemory(memoryLimit), bodyParser(operation)];
    router[operation.method](
      operation.route,
      matchOperation(operation),
      authenticate(authenticator, operation),
      limit.invalidTokens,
      limit.requests,
      authorize(authenticator, offer, operation),
      ...body,
      validation.validate(operation),
      admission(concurrency),
      authorizeAgain(authenticator, operation),
      handle(operation, handlers[operation.id as OperationId] as Handler<OperationId>, sending),
    );
  }
  return router;
}

/** Serves agents, `/healthz` and `/readyz`. */
export function createGatewayApp(deps: { gateway: RequestHandler; readiness: Readiness; logger: Logger }): Express {
  const app = createExpress().use(deps.gateway, plainRoutes({ ...deps, document: null }));
  return app.use(notFound, errorHandler(deps.logger));
}

function createExpress(): Express {
  return express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
}

const notFound: RequestHandler = () => {
  throw new DomainError('NotFound', 'There is nothing at this address');
};
