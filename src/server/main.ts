import { createTemporalHealth } from '../../temporal/client/health.ts';
import { listen } from '../api/app/server.ts';
import { logSetupToken } from '../api/identity/first-account.ts';
import { openPersistence } from '../persistence/orm/orm.ts';
import type { Database } from '../persistence/database/sql.ts';
import { type Config, loadConfig } from '../process/config.ts';
import { exitWithError, notifyReady, shutDownOnSignal, untilNeeded } from '../process/lifecycle.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { startMetrics } from '../process/metrics.ts';
import { startTracing } from '../process/tracing.ts';
import { systemClock as clock } from '../services/common/ports.ts';
import { rotateRecoveryKeys } from '../services/computers/recovery-key-rotation.ts';
import { rotateWebhookKeys } from '../services/events/webhook-secrets.ts';
import { createServices } from '../services/setup/services.ts';
import { createServerApp, readRole } from './apps.ts';

/** `npm run api`, `npm run gateway`: serves clients, agents, or both. */
async function main(env: NodeJS.ProcessEnv, args: string[]): Promise<void> {
  const role = readRole(args);
  const config = loadConfig(env, 'process');
  const logger = createLogger({ level: config.logLevel, role: role.name });
  const tracing = await startTracing(role.name, logger, env);
  const persistence = await openPersistence({
    url: config.databaseUrl!,
    poolSize: config.databasePoolSize,
    limits: config.databaseLimits,
    applicationName: `flotilla-${role.name}`,
    onError: (error) => logger.warn({ err: error }, 'lost a database connection'),
    // Without a database every response is 503; exiting would only prolong the outage.
    lazy: true,
  });
  const temporal = createTemporalHealth(config);
  const { jwtSecrets } = config;
  const services = createServices({ persistence, temporal, clock, jwtSecrets, logger, settings: config });
  await untilNeeded(config);

  const readinessFailures = async () =>
    (await services.readiness.check()).map(({ part, reason }) => `${part}: ${reason}`);
  const metrics = await startMetrics({ config, logger, serves: role.serves, readinessFailures });
  metrics.registerPools(persistence.pools);
  const { app, close } = createServerApp(role, { config, logger, metrics, services, persistence });

  const server = await listen(app, config);
  if (role.withApi) {
    // In the background, because the database may be unavailable now.
    void reencryptSecrets(persistence.db, config, logger);
    void logSetupToken(services.accounts, logger);
  }
  logger.info({ address: `http://${config.host}:${config.port}` }, 'serving');
  shutDownOnSignal(logger, async () => {
    // Waiting requests and streams get their response, and their clients continue with another process.
    await services.eventHub.close();
    await server.close();
    await close();
    await temporal.close();
    await persistence.close();
    await metrics.close();
    await tracing.close();
  });
  notifyReady();
}

async function reencryptSecrets(db: Database, config: Config, logger: Logger): Promise<void> {
  try {
    const { rotated, unreadable } = await rotateRecoveryKeys(db, config.encryptionKeys);
    if (rotated > 0) logger.info({ rotated, keyId: config.encryptionKeys[0]!.id }, 're-encrypted recovery keys');
    if (unreadable > 0) logger.warn({ unreadable }, 'recovery keys are encrypted with a key that is not configured');
    const webhooks = await rotateWebhookKeys(db, config.encryptionKeys);
    if (webhooks > 0)
      logger.info({ webhooks, keyId: config.encryptionKeys[0]!.id }, 're-encrypted secrets of webhooks');
  } catch (error) {
    logger.warn({ err: error }, 're-encrypting secrets failed; the next start tries again');
  }
}

main(process.env, process.argv.slice(2)).catch(exitWithError);
