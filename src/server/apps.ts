import { parseArgs } from 'node:util';
import type { Express, RequestHandler } from 'express';
import { createCodecRouter } from '../../temporal/encryption/codec-server.ts';
import { createApp, createGatewayApp } from '../api/app/app.ts';
import { createCodecAccess } from '../api/identity/codec-access.ts';
import { createGateway } from '../gateway/http/gateway.ts';
import type { Persistence } from '../persistence/orm/orm.ts';
import { createClientAddress } from '../process/client-address.ts';
import { type Config, ConfigError } from '../process/config.ts';
import type { Logger } from '../process/logger.ts';
import type { Metrics } from '../process/metrics.ts';
import type { ConcurrencyLimits } from '../process/admission/concurrency-limiter.ts';
import { findWebPage } from '../process/web-page.ts';
import { systemClock } from '../services/common/ports.ts';
import type { Services } from '../services/setup/services.ts';

interface ServerRole {
  name: 'api' | 'gateway';
  withApi: boolean;
  withGateway: boolean;
  serves: readonly string[];
}

const OPTIONS = { 'gateway-only': { type: 'boolean' }, 'no-gateway': { type: 'boolean' } } as const;

/** @throws {ConfigError} when the arguments exclude each other */
export function readRole(args: string[]): ServerRole {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { 'gateway-only': gatewayOnly = false, 'no-gateway': withoutGateway = false } = values;
  if (gatewayOnly && withoutGateway) throw new ConfigError(['--gateway-only and --no-gateway exclude each other']);
  const serves = [...(gatewayOnly ? [] : ['api']), ...(withoutGateway ? [] : ['gateway'])];
  return { name: gatewayOnly ? 'gateway' : 'api', withApi: !gatewayOnly, withGateway: !withoutGateway, serves };
}

const SLOTS_FOR_OTHER_ACCOUNTS = 2;
const QUEUE_TIMEOUT_MS = 15_000;

interface AppParts {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  services: Services;
  persistence: Persistence;
}

/** The API, the gateway, or both in one. `close` ends what the gateway does beside requests. */
export function createServerApp({ withApi, withGateway }: ServerRole, parts: AppParts) {
  const { persistence, config, logger, services, metrics } = parts;
  const clientAddress = createClientAddress(config.trustedProxies);
  const { registry } = metrics;
  const gateway = withGateway
    ? createGateway({ persistence, config, logger, clock: systemClock, registry, clientAddress })
    : null;
  const app = withApi
    ? createApiApp(parts, gateway?.router)
    : createGatewayApp({ gateway: gateway!.router, readiness: services.readiness, logger });
  return { app, close: async () => gateway?.close() };
}

function createApiApp(parts: AppParts, gateway: RequestHandler | undefined): Express {
  const { config, logger, metrics, services } = parts;
  const access = createCodecAccess({ authenticator: services.authenticator, config });
  return createApp({
    services,
    logger,
    publicUrl: config.publicUrl,
    deployment: config.deployment,
    trustedProxies: config.trustedProxies,
    rate: config.traffic.api,
    concurrency: concurrencyLimits(config),
    unknownKeys: config.unknownKeys,
    gateway,
    webPage: config.webPage ? findBuiltPage(logger) : null,
    codec: [access.guard, createCodecRouter({ encryptionKeys: config.encryptionKeys, allow: access.allow })],
    onRequestStart: metrics.startRequest,
    onRequestEnd: metrics.endRequest,
  });
}

function findBuiltPage(logger: Logger): string | null {
  const folder = findWebPage();
  if (folder === null) logger.warn('the web page is not built: run npm run build:web, or set FLOTILLA_WEB_PAGE=false');
  return folder;
}

/** As many calls at once as there are connections; one account leaves some to others. */
function concurrencyLimits({ databasePoolSize, traffic: { maxWaiting } }: Config): ConcurrencyLimits {
  return {
    concurrency: databasePoolSize,
    concurrencyPerKey: Math.max(1, databasePoolSize - SLOTS_FOR_OTHER_ACCOUNTS),
    maxQueued: maxWaiting,
    maxQueuedPerKey: Math.ceil(maxWaiting / 2),
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
  };
}
