import { join } from 'node:path';
import { openPersistence, type Persistence } from '../../../src/persistence/orm/orm.ts';
import { type Config, loadConfig } from '../../../src/process/config.ts';
import { openDataDirectory, prepareDirectory } from '../data-directory.ts';
import { findFreePort } from '../processes/ports.ts';
import { readStackState } from '../processes/running-file.ts';
import { exists } from '../secrets.ts';
import { StackError } from '../stack-error.ts';
import { embeddedDatabaseUrl, resolveDataDir } from '../topology/roles.ts';
import { startPostgres } from './postgres.ts';

/**
 * Opens the database of the settings, else that of the embedded stack. If the stack does not run, its PostgreSQL is
 * started for the duration.
 * @param name - of the command, for PostgreSQL
 * @param env - environment variables with the settings
 * @throws {StackError} when there is no database, it cannot be reached, or the stack has not started yet
 */
export async function withDatabase<T>(
  name: string,
  env: NodeJS.ProcessEnv,
  work: (persistence: Persistence, config: Config) => Promise<T>,
): Promise<T> {
  const config = loadConfig(env, 'stack');
  const use = async (url: string): Promise<T> => {
    const persistence = await openPersistence({ url, poolSize: 2, applicationName: name }).catch(() => {
      throw new StackError('The database cannot be reached: start it, or set FLOTILLA_DATABASE_URL to the right one.');
    });
    try {
      return await work(persistence, config);
    } finally {
      await persistence.close();
    }
  };
  if (config.databaseUrl !== null) return use(config.databaseUrl);
  const dataDir = resolveDataDir(config);
  const state = readStackState(join(dataDir, 'running.json'));
  if (state.is === 'starting') throw new StackError(`The Flotilla in ${dataDir} starts: try again in a moment.`);
  if (state.is === 'running') return use(state.settings['FLOTILLA_DATABASE_URL'] ?? '');
  return onStoppedStack(dataDir, config, use);
}

async function onStoppedStack<T>(dataDir: string, config: Config, use: (url: string) => Promise<T>): Promise<T> {
  if (!(await exists(join(dataDir, 'secrets.json')))) {
    throw new StackError('There is no database yet: start Flotilla first, or set FLOTILLA_DATABASE_URL.');
  }
  const data = await openDataDirectory(dataDir);
  try {
    const secrets = await prepareDirectory(data, {
      name: 'Flotilla',
      report: () => undefined,
      checkPorts: async () => undefined,
    });
    const place = { dataDir: data.postgres, port: await findFreePort(), logFile: data.log('postgres') };
    const server = await startPostgres({ ...place, password: secrets.superuserPassword });
    try {
      return await use(embeddedDatabaseUrl({ ...config, databasePort: server.port }, secrets));
    } finally {
      await server.stop();
    }
  } finally {
    data.release();
  }
}
