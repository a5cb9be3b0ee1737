import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate, openPersistence } from '../../../src/persistence/orm/orm.ts';
import { collectLogs, expectNoSecretLogged } from '../../../tools/harness/test-log.ts';
import { type PostgresServer, startPostgres } from '../../../tools/stack/database/postgres.ts';
import { findFreePort, findFreePorts } from '../../../tools/stack/processes/ports.ts';
import { isAlive, processesIn, signalProcess } from '../../../tools/stack/processes/processes.ts';
import { StackError } from '../../../tools/stack/stack-error.ts';
import { LOCAL_DYNAMIC_CONFIG } from '../../../tools/temporal-server/dynamic-config.ts';
import { resolveTemporal, type TemporalPrograms } from '../../../tools/temporal-server/programs.ts';
import { startTemporal } from '../../../tools/temporal-server/temporal-server.ts';
import { resolveTestServer } from '../../../tools/temporal-server/test-server.ts';
import { webServices } from '../web/services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files request what a run has once. See `runService`. */
    runServicesUrl: string;
  }
}

const PREFIX = 'flotilla-test-';

/**
 * Offers PostgreSQL and Temporal on free ports, in a directory of their own. Each starts when the first test file needs
 * it. All of it is removed when the run ends, however it ends; what a killed run left, the next run removes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers();
  // Every stack runs Temporal, and the first run of a machine may build it, which no time limit of a test allows for.
  if (project.name !== 'integration')
    await findServerPrograms().catch((error: unknown) => console.error(String(error)));
  const directory = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  await chmod(directory, 0o711);
  collectLogs(join(directory, 'logs'));
  const pids: number[] = [];
  const onStart = (pid: number): void => void pids.push(pid);
  const emergency = (): void => {
    for (const pid of pids) signalProcess(pid, 'SIGQUIT');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', emergency);
  const services = await serveRunServices({
    postgres: postgresService(directory, onStart),
    ...temporalServices(directory, onStart),
    ...webServices(),
  });
  project.provide('runServicesUrl', services.url);
  return async () => {
    await services.close();
    try {
      expectNoSecretLogged(join(directory, 'logs'));
    } finally {
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
      process.off('exit', emergency);
    }
  };
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

/** Something that a test run has once: started at the first request for it, stopped at the end of the run. */
export interface RunService {
  start(): Promise<{ value: Record<string, string>; stop?: () => Promise<void> }>;
}

/**
 * Serves the run's services to the processes of the test files, so that a service without users never starts.
 * `GET /<name>` returns the service's JSON, or 500 with the reason.
 */
async function serveRunServices(
  services: Record<string, RunService>,
): Promise<{ url: string; close(): Promise<void> }> {
  const started = new Map<string, ReturnType<RunService['start']>>();
  const server: Server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    const service = services[name];
    const running = started.get(name) ?? service?.start();
    if (!running) return response.writeHead(404).end(`no service ${name}`);
    started.set(name, running);
    running.then(
      ({ value }) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      const running = await Promise.allSettled(started.values());
      await Promise.all(running.map((result) => (result.status === 'fulfilled' ? result.value.stop?.() : undefined)));
    },
  };
}

/** The PostgreSQL of a run: how to reach its maintenance database, and which of its databases is the migrated template. */
export interface PostgresService {
  adminUrl: string;
  template: string;
}

const TEMPLATE = 'flotilla_template';

/** One PostgreSQL on a free port with a migrated template database, in a subdirectory of `directory`. */
function postgresService(directory: string, onStart: (pid: number) => void): RunService {
  return {
    async start() {
      const postgres = await startOnFreePort(directory, onStart);
      await makeTemplate(postgres);
      return { value: { adminUrl: postgres.url('postgres'), template: TEMPLATE }, stop: () => postgres.stop() };
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

const report = (message: string): void => console.log(`[temporal] ${message}`);

/** Finds the programs of the Temporal server; the first run of a machine may build them. */
export function findServerPrograms(): Promise<TemporalPrograms> {
  return resolveTemporal({ bin: process.env['FLOTILLA_TEMPORAL_SERVER_DIR'] || null, report, env: process.env });
}

/** The Temporal servers of a test run. `directory` gets the log. `onStart` gets process ids, for an emergency end. */
export function temporalServices(directory: string, onStart: (pid: number) => void): Record<string, RunService> {
  return {
    'temporal-server': {
      async start() {
        const programs = await findServerPrograms();
        const [port = 0, ...internal] = await findFreePorts(9);
        const server = await startTemporal({
          programs,
          store: { sqlite: null },
          ports: { host: '127.0.0.1', frontend: port, internal, ui: null },
          namespace: 'flotilla-test',
          searchAttributes: ['FlotillaTest', 'FlotillaTestToo'],
          // Tests reach it in many ways; who may is tested on a stack.
          certificates: null,
          dynamicConfig: {
            ...LOCAL_DYNAMIC_CONFIG,
            // Failed tasks are reported with the third attempt, which is seconds later.
            'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute': 2,
          },
          directory: join(directory, 'temporal'),
          logFile: join(directory, 'temporal.log'),
          env: process.env,
          onSpawn: onStart,
        });
        return { value: { address: `127.0.0.1:${port}` }, stop: () => server.stop() };
      },
    },
    'temporal-server-programs': {
      start: async () => ({ value: { directory: dirname((await findServerPrograms()).server) } }),
    },
    'temporal-test-server': {
      start: async () => ({
        value: {
          path: await resolveTestServer({
            bin: process.env['FLOTILLA_TEST_SERVER_BIN'] || null,
            report,
            env: process.env,
          }),
        },
      }),
    },
  };
}
