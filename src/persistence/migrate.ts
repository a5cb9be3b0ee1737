import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { runOneShot } from '../one-shot.ts';
import { migrate, openPersistence, type Persistence } from './orm.ts';

/** `npm run migrate`: brings the schema of FLOTILLA_DATABASE_URL up to date. Idempotent, several at once are safe. */
const WAIT_MS = 30_000;
const PAUSE_MS = 500;

await runOneShot('migrate', 'migrate', async (config, logger) => {
  const persistence = await openWhenThere(config.databaseUrl!, logger);
  try {
    await migrate(persistence);
  } finally {
    await persistence.close();
  }
  logger.info('the schema is up to date');
});

/** A deploy starts server and migration together. @throws when the server does not let us in within half a minute */
async function openWhenThere(url: string, logger: Logger): Promise<Persistence> {
  const until = Date.now() + WAIT_MS;
  for (let tries = 0; ; tries += 1) {
    try {
      return await openPersistence({ url, poolSize: 2, applicationName: 'flotilla-migrate' });
    } catch (error) {
      if (Date.now() >= until) throw error;
      if (tries === 0) logger.warn({ err: error }, 'the database does not answer, trying again');
      await delay(PAUSE_MS);
    }
  }
}
