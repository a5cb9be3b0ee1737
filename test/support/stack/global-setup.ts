import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate, openPersistence } from '../../../src/persistence/orm/orm.ts';
import { collectLogs, expectNoSecretLogged } from '../../../tools/harness/test-log.ts';
import { type PostgresServer, startPostgres } from '../../../tools/stack/database/postgres.ts';
import { findFreePort } from '../../../tools/stack/processes/ports.ts';
import { isAlive, processesIn, signalProcess } from '../../../tools/stack/processes/processes.ts';
import { StackError } from '../../../tools/stack/stack-error.ts';
import { findTemporalPrograms, temporalServices } from '../temporal/temporal-services.ts';
import { serveRunServices } from './run-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the maintenance database of this run's PostgreSQL. */
    adminDatabaseUrl: string;
    /** Where test files request what a run has once. See `run-services.ts`. */
    runServicesUrl: string;
  }
}

export const TEMPLATE_DATABASE = 'flotilla_template';
const PREFIX = 'flotilla-test-';

/**
 * One PostgreSQL per run on a free port and in a directory of its own, with a migrated template database. All of it is
 * gone when the run ends, however it ends; what a run killed by force left, the next run removes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers();
  const directory = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  let postgres: PostgresServer | undefined;
  let services: Awaited<ReturnType<typeof serveRunServices>> | undefined;
  const pids: number[] = [];
  const emergency = (): void => {
    for (const pid of pids) signalProcess(pid, 'SIGQUIT');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', emergency);
  const teardown = async (): Promise<void> => {
    await services?.close();
    await postgres?.stop();
    try {
      expectNoSecretLogged(join(directory, 'logs'));
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
      process.off('exit', emergency);
    }
  };
  try {
    await chmod(directory, 0o711);
    collectLogs(join(directory, 'logs'));
    const programs = findTemporalPrograms();
    postgres = await startOnFreePort(directory);
    pids.push(postgres.pid);
    await makeTemplate(postgres);
    services = await serveRunServices(temporalServices(await programs, directory, (pid) => pids.push(pid)));
  } catch (error) {
    await teardown();
    throw error;
  }
  project.provide('adminDatabaseUrl', postgres.url('postgres'));
  project.provide('runServicesUrl', services.url);
  return teardown;
}

async function startOnFreePort(directory: string): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startPostgres({
        dataDir: join(directory, 'postgres'),
        port: await findFreePort(),
        password: randomBytes(12).toString('hex'),
        logFile: join(directory, 'postgres.log'),
        durable: false,
        settings: { max_connections: '400', shared_buffers: '128MB' },
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
  await admin.db.query(`create database ${TEMPLATE_DATABASE}`);
  await admin.close();
  const url = postgres.url(TEMPLATE_DATABASE);
  const template = await openPersistence({ url, poolSize: 2, applicationName: 'test-setup' });
  await migrate(template);
  await template.close();
}

async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const directory = join(tmpdir(), name);
    for (const pid of processesIn(join(directory, 'postgres'))) signalProcess(pid, 'SIGQUIT');
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => undefined);
  }
}
