import { runCommand } from '../src/process/command.ts';
import { bootstrap } from './bootstrap.ts';

const HELP = `npm run temporal:bootstrap

Prepares the server at FLOTILLA_TEMPORAL_ADDRESS: the namespace, with 30 days of retention where it is not there yet,
search attributes, schedules, and the key that encrypts these. Can be repeated; several at once are safe.

  --help  this text`;

await runCommand(
  { name: 'temporal-bootstrap', role: 'temporal', help: HELP, env: process.env },
  async (config, logger) => {
    const { reencrypted, unreadable } = await bootstrap(config);
    const { temporalNamespace: namespace } = config;
    logger.info({ namespace, reencrypted }, 'namespace, search attributes and schedules are up to date');
    if (unreadable.length > 0) {
      logger.warn(
        { namespace, schedules: unreadable.length, first: unreadable.slice(0, 10) },
        'schedules are encrypted with a key that is not configured: add it after the first and repeat',
      );
    }
  },
);
