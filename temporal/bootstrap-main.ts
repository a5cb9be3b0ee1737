import { loadConfig } from '../src/config.ts';
import { createLogger } from '../src/logger.ts';
import { bootstrap } from './bootstrap.ts';

/** `npm run temporal:bootstrap`: prepares the server at FLOTILLA_TEMPORAL_ADDRESS. Idempotent. */
const logger = createLogger({ level: process.env['FLOTILLA_LOG_LEVEL'] ?? 'info', role: 'temporal-bootstrap' });
try {
  const config = loadConfig(process.env, 'stack');
  if (!config.temporalAddress) throw new Error('FLOTILLA_TEMPORAL_ADDRESS is required: the server to be prepared');
  if (config.encryptionKeys.length === 0) throw new Error('FLOTILLA_ENCRYPTION_KEYS is required');
  await bootstrap(config);
  logger.info({ namespace: config.temporalNamespace }, 'namespace, search attributes and schedules are up to date');
  process.exit(0);
} catch (error) {
  logger.fatal(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
