import { runCommand } from '../../process/command.ts';
import { connectWithRetry } from './orm.ts';
import { migrate } from './orm.ts';

const HELP = `npm run migrate

Brings the schema of FLOTILLA_DATABASE_URL up to date. Can be repeated; several at once are safe.

  --help  this text`;

const WAIT_MS = 30_000;

/** `npm run migrate` */
await runCommand({ name: 'migrate', role: 'migrate', help: HELP }, async (config, logger) => {
  const options = { url: config.databaseUrl!, poolSize: 2, applicationName: 'flotilla-migrate' };
  const persistence = await connectWithRetry(options, logger, WAIT_MS);
  try {
    await migrate(persistence);
  } finally {
    await persistence.close();
  }
  logger.info('the schema is up to date');
});
