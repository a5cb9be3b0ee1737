import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate, openPersistence } from '../../../src/persistence/orm/orm.ts';
import { type PostgresServer, startPostgres } from '../../../tools/stack/database/postgres.ts';
import { findFreePort } from '../../../tools/stack/processes/ports.ts';
import { StackError } from '../../../tools/stack/stack-error.ts';
import type { RunService } from '../stack/run-services.ts';

/** The PostgreSQL of a run: how to reach its maintenance database, and which of its databases is the migrated template. */
export interface PostgresService {
  adminUrl: string;
  template: string;
}

const TEMPLATE = 'flotilla_template';

/** One PostgreSQL on a free port with a migrated template database, in a subdirectory of `directory`. */
export function postgresService(directory: string, onStart: (pid: number) => void): RunService {
  return {
    async start() {
      const postgres = await startOnFreePort(directory, onStart);
      await makeTemplate(postgres);
      return { answer: { adminUrl: postgres.url('postgres'), template: TEMPLATE }, stop: () => postgres.stop() };
    },
  };
}

async function startOnFreePort(directory: string, onSpawn: (pid: number) => void): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startPostgres({
        dataDir: join(directory, 'postgres'),
        port: await findFreePort(),
        password: randomBytes(12).toString('hex'),
        logFile: join(directory, 'postgres.log'),
        durable: false,
        settings: { max_connections: '400', shared_buffers: '128MB' },
        onSpawn,
      });
    } catch (error) {
      // Another run may have taken the port between our look and our start.
      if (attempt === 5 || !(error instanceof StackError)) throw error;
      await rm(join(directory, 'postgres'), { recursive: true, force: true });
    }
  }
}

async function makeTemplate(postgres: PostgresServer): Promise<void> {
  const admin = await openPersistence({ url: postgres.url('postgres'), poolSize: 1, applicationName: 'test-setup' });
  await admin.db.query(`create database ${TEMPLATE}`);
  await admin.close();
  const template = await openPersistence({
    url: postgres.url(TEMPLATE),
    poolSize: 2,
    applicationName: 'test-setup',
  });
  await migrate(template);
  await template.close();
}
