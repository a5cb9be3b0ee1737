import { loadConfig } from '../config.ts';
import { createLogger } from '../logger.ts';
import { migrate, openPersistence } from './orm.ts';

/** `npm run migrate`: brings the schema of FLOTILLA_DATABASE_URL up to date. Idempotent. */
const url = process.env['FLOTILLA_DATABASE_URL'];
const logger = createLogger({ level: process.env['FLOTILLA_LOG_LEVEL'] ?? 'info', role: 'migrate' });
if (!url) {
  logger.fatal('FLOTILLA_DATABASE_URL is required: the PostgreSQL server whose schema is to be brought up to date');
  process.exit(1);
}
const config = loadConfig({ FLOTILLA_DATABASE_URL: url }, 'stack');
const persistence = await openPersistence({
  url: config.databaseUrl!,
  poolSize: 2,
  applicationName: 'flotilla-migrate',
});
await migrate(persistence);
await persistence.close();
logger.info('the schema is up to date');
