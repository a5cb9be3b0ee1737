import { parseArgs } from 'node:util';
import type { RequestHandler } from 'express';
import { createCodecRouter } from '../../temporal/codec-server.ts';
import { createTemporalHealth } from '../../temporal/health.ts';
import { createApp, createGatewayApp } from '../api/app/app.ts';
import { listen } from '../api/app/server.ts';
import { createCodecAccess } from '../api/identity/codec-access.ts';
import { logSetupToken } from '../api/identity/first-account.ts';
import { createGateway } from '../gateway/http/gateway.ts';
import { openPersistence, type Persistence } from '../persistence/orm/orm.ts';
import { createClientAddress } from '../process/client-address.ts';
import { type Config, ConfigError, loadConfig } from '../process/config.ts';
import { exitWithError, notifyReady, shutDownOnSignal } from '../process/lifecycle.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { type Metrics, startMetrics } from '../process/metrics.ts';
import { startTracing } from '../process/tracing.ts';
import type { ConcurrencyLimits } from '../process/admission/concurrency-limiter.ts';
import { systemClock } from '../services/common/ports.ts';
import { rotateRecoveryKeys } from '../services/computers/recovery-key-rotation.ts';
import { createServices, type Services } from '../services/setup/services.ts';

const SLOTS_FOR_OTHER_ACCOUNTS = 2;
const QUEUE_TIMEOUT_MS = 15_000;

/** `npm run api`, `npm run gateway`: serves clients, agents, or both. */
async function main(): Promise<void> {
  const { gatewayOnly, withGateway } = readArguments();
  const config = loadConfig(process.env, 'process');
  const logger = createLogger({ level: config.logLevel, role: gatewayOnly ? 'gateway' : 'api' });
  const tracing = await startTracing(gatewayOnly ? 'gateway' : 'api', logger);
  const persistence = await openPersistence({
    url: config.databaseUrl!,
    poolSize: config.databasePoolSize,
    limits: config.databaseLimits,
    applicationName: gatewayOnly ? 'flotilla-gateway' : 'flotilla-api',
    onError: (error) => logger.warn({ err: error }, 'lost a database connection'),
    // Without a database every response is 503; exiting would only prolong the outage.
    lazy: true,
  });
  const temporal = createTemporalHealth(config);
  const services = createServices({
    persistence,
    temporal,
    clock: systemClock,
    jwtSecrets: config.jwtSecrets,
    logger,
    settings: config,
  });
  const serves = [...(gatewayOnly ? [] : ['api']), ...(withGateway ? ['gateway'] : [])];
  const obstacles = async () => (await services.readiness.check()).map(({ part, reason }) => `${part}: ${reason}`);
  const metrics = await startMetrics({ config, logger, serves, readinessFailures: obstacles });
  metrics.registerPools(persistence.pools);
  const clientAddress = createClientAddress(config.trustedProxies);
  const gateway = withGateway
    ? createGateway({ persistence, config, logger, clock: systemClock, registry: metrics.registry, clientAddress })
    : null;
  const app = gatewayOnly
    ? createGatewayApp({ gateway: gateway!.router, readiness: services.readiness, logger })
    : createApiApp({ config, logger, metrics, services, gateway: gateway?.router });
  const server = await listen(app, config);
  if (!gatewayOnly) {
    void reencryptRecoveryKeys(persistence, config, logger);
    void logSetupToken(services.accounts, logger);
  }
  logger.info({ address: `http://${config.host}:${config.port}` }, 'serving');
  shutDownOnSignal(logger, async () => {
    await server.close();
    await gateway?.close();
    await temporal.close();
    await persistence.close();
    await metrics.close();
    await tracing.close();
  });
  notifyReady();
}

/** Runs in the background, because the database may be unavailable at the start. */
async function reencryptRecoveryKeys(persistence: Persistence, config: Config, logger: Logger): Promise<void> {
  try {
    const { rotated, unreadable } = await rotateRecoveryKeys(persistence.db, config.encryptionKeys);
    if (rotated > 0) logger.info({ rotated, keyId: config.encryptionKeys[0]!.id }, 're-encrypted recovery keys');
    if (unreadable > 0) logger.warn({ unreadable }, 'recovery keys are encrypted with a key that is not configured');
  } catch (error) {
    logger.warn({ err: error }, 're-encrypting recovery keys failed; the next start tries again');
  }
}

function createApiApp(deps: {
  config: Config;
  logger: Logger;
  metrics: Metrics;
  services: Services;
  gateway: RequestHandler | undefined;
}) {
  const { config, logger, metrics, services, gateway } = deps;
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
    codec: [access.guard, createCodecRouter({ encryptionKeys: config.encryptionKeys, allow: access.allow })],
    onRequestStart: metrics.startRequest,
    onRequestEnd: metrics.endRequest,
    prepareInBackground: true,
  });
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

function readArguments(): { gatewayOnly: boolean; withGateway: boolean } {
  const { values } = parseArgs({ options: { 'gateway-only': { type: 'boolean' }, 'no-gateway': { type: 'boolean' } } });
  const gatewayOnly = values['gateway-only'] ?? false;
  const withoutGateway = values['no-gateway'] ?? false;
  if (gatewayOnly && withoutGateway) throw new ConfigError(['--gateway-only and --no-gateway exclude each other']);
  return { gatewayOnly, withGateway: !withoutGateway };
}

main().catch(exitWithError);
