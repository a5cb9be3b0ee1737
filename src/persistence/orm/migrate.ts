import { runCommand } from '../../process/command.ts';
import { createMigration } from './create-migration.ts';
import { connectWithRetry, migrate } from './orm.ts';

const HELP = `npm run migrate
npm run migrate -- create [name]

Brings the schema of FLOTILLA_DATABASE_URL up to date. Can be repeated; several at once are safe.
With \`create\` it writes a migration instead, from what the entities have and that database lacks.

  --help  this text`;

const WAIT_MS = 30_000;
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

await runCommand(
  { name: 'migrate', role: 'migrate', help: HELP, env: process.env, maxWords: 2 },
  async (config, logger, _, words) => {
    const [verb, name = 'schema-change'] = words;
    if (verb !== undefined && verb !== 'create') throw new Error(`Unexpected argument '${verb}'`);
    if (verb === 'create' && !NAME.test(name)) throw new Error('a name of a migration is such as saved-search-owners');
    const options = { url: config.databaseUrl!, poolSize: 2, applicationName: 'flotilla-migrate' };
    const persistence = await connectWithRetry(options, logger, WAIT_MS);
    try {
      if (verb === 'create') {
        const file = await createMigration(persistence.orm, name);
        logger.info(file === null ? 'nothing to create: the database matches the entities' : `wrote ${file}`);
      } else {
        await migrate(persistence);
        logger.info('the schema is up to date');
      }
    } finally {
      await persistence.close();
    }
  },
);
