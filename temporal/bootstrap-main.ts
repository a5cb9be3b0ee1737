import { runOneShot } from '../src/one-shot.ts';
import { bootstrap } from './bootstrap.ts';

/** `npm run temporal:bootstrap`: prepares the server at FLOTILLA_TEMPORAL_ADDRESS. Idempotent, several at once are safe. */
await runOneShot('temporal-bootstrap', 'temporal', async (config, logger) => {
  const { resealed, unreadable } = await bootstrap(config);
  const { temporalNamespace: namespace } = config;
  logger.info({ namespace, resealed }, 'namespace, search attributes and schedules are up to date');
  if (unreadable.length > 0) {
    logger.warn(
      { namespace, schedules: unreadable.length, first: unreadable.slice(0, 10) },
      'schedules are sealed with a key that is not configured: put it back behind the first and repeat',
    );
  }
});
