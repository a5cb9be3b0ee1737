import { runOneShot } from '../src/one-shot.ts';
import { bootstrap } from './bootstrap.ts';

/** `npm run temporal:bootstrap`: prepares the server at FLOTILLA_TEMPORAL_ADDRESS. Idempotent, several at once are safe. */
await runOneShot('temporal-bootstrap', 'temporal', async (config, logger) => {
  await bootstrap(config);
  logger.info({ namespace: config.temporalNamespace }, 'namespace, search attributes and schedules are up to date');
});
