import { runOneShot } from '../one-shot.ts';
import { openWhenThere } from './open-when-there.ts';
import { migrate } from './orm.ts';

/** `npm run migrate`: brings the schema of FLOTILLA_DATABASE_URL up to date. Idempotent, several at once are safe. */
const WAIT_MS = 30_000;

await runOneShot('migrate', 'migrate', async (config, logger) => {
  const options = { url: config.databaseUrl!, poolSize: 2, applicationName: 'flotilla-migrate' };
  const persistence = await openWhenThere(options, logger, WAIT_MS);
  try {
    await migrate(persistence);
  } finally {
    await persistence.close();
  }
  logger.info('the schema is up to date');
});
