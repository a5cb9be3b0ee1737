import express, { type Express, type RequestHandler, type Router } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import type { ConcurrencyLimits } from '../../process/admission/concurrency-limiter.ts';
import type { RequestMemoryLimit } from '../../process/admission/request-memory.ts';
import type { Config, Rate } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import { type Clock, systemClock } from '../../services/common/ports.ts';
import type { Readiness } from '../../services/setup/readiness.service.ts';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { type AnyHandler, createRouter } from '../http/handler.ts';
import { admission } from '../http/middleware/admission.ts';
import { authenticate, clearEndedSession } from '../http/middleware/authenticate.ts';
import { authorize, authorizeAgain } from '../http/middleware/authorize.ts';
import { bodyParser } from '../http/middleware/body-parser.ts';
import { clientAddress } from '../http/middleware/client-address.ts';
import { errorHandler } from '../http/middleware/error-handler.ts';
import { handle } from '../http/middleware/handle.ts';
import { matchOperation } from '../http/middleware/match-operation.ts';
import { normalizePath } from '../http/middleware/normalize-path.ts';
import { preferWait } from '../http/middleware/prefer.ts';
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
import { wait } from '../http/middleware/wait.ts';
import { type Operation, readOperations } from '../http/operations.ts';
import { loadDocument, type OpenApiDocument } from '../openapi/document.ts';
import { createHandlers } from './handlers.ts';
import { plainRoutes } from './plain-routes.ts';
import { webPage } from './web-page.ts';

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
  /** Folder of the built web page; null for none. */
  webPage?: string | null;
  /** Of the document, if another application of the process has them. */
  validators?: Validators;
  /** What happens to unknown parameters and fields; default: refuse. */
  unknownKeys?: Config['unknownKeys'];
  validateResponses?: boolean;
}

export function createApp(deps: AppDeps): Express {
  const { services, logger, gateway, codec, webPage: folder = null, validateResponses } = deps;
  const document = loadDocument();
  const app = createExpress();
  // Generated clients leave the version out.
  app.use(['/api/v2', '/api'], createApi(deps, document));
  if (gateway) app.use(gateway);
  if (codec) app.use('/codec', ...codec);
  app.use(plainRoutes({ document, readiness: services.readiness, hasWebPage: folder !== null }));
  if (folder !== null) app.use(webPage(folder));
  return app.use(notFound, errorHandler(logger, validateResponses));
}

/** What a request passes. Nothing of a body is read before the caller is known and admitted. */
function createApi(deps: AppDeps, document: OpenApiDocument): Router {
  const operations = readOperations(document);
  const parts = createParts(deps, document, operations);
  const { authenticator } = deps.services;
  const api = createRouter().use(
    requestId(),
    clientAddress(deps.trustedProxies ?? []),
    trace(),
    requestLog(deps.logger, deps),
    normalizePath(),
  );
  for (const operation of operations) {
    api[operation.method](
      operation.route,
      matchOperation(operation),
      authenticate(authenticator, deps.publicUrl, operation),
      parts.rateLimit.invalidTokens,
      parts.rateLimit.requests,
      authorize(authenticator, parts.offer, operation),
      ...(operation.method === 'get' ? [] : [requestMemory(parts.memoryLimit), bodyParser(operation)]),
      parts.validation.validate(operation),
      parts.wait(operation),
      parts.admission,
      authorizeAgain(authenticator, operation),
      handle(operation, parts.handlers[operation.id]!, parts.sending),
    );
  }
  return api.use(unmatched(operations), clearEndedSession(deps.publicUrl));
}

/** What the middleware of all operations shares. */
function createParts(deps: AppDeps, document: OpenApiDocument, operations: readonly Operation[]) {
  const { services, deployment, unknownKeys = 'refuse', publicUrl, validateResponses } = deps;
  const features = services.features.flatMap(({ key, enabled }) => (enabled ? [key] : []));
  const validators = deps.validators ?? createValidators(document, operations);
  const handlers: Record<string, AnyHandler> = createHandlers(services);
  return {
    rateLimit: rateLimit(deps.rate ?? null, deps.clock ?? systemClock),
    offer: { deployment, features: new Set(features) },
    memoryLimit: deps.requestMemory ?? createRequestMemoryLimit(),
    validation: createValidation(document, operations, { validators, unknownKeys }),
    wait: wait(services.activityWaits),
    admission: admission(deps.concurrency),
    handlers,
    sending: {
      publicUrl,
      checkResponse: validateResponses ? createResponseCheck(validators) : null,
      applyPrefer: preferWait({
        waits: services.activityWaits,
        authenticator: services.authenticator,
        async readActivity(caller, id) {
          const activity = await services.activities.readBase(caller, id);
          return activity && toActivityResponse(activity);
        },
      }),
    },
  };
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
