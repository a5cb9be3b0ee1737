import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { collectLogs, expectNoSecretLogged } from '../../../tools/harness/test-log.ts';
import { isAlive, processesIn, signalProcess } from '../../../tools/stack/processes/processes.ts';
import { postgresService } from '../database/postgres-service.ts';
import { findServerPrograms, temporalServices } from '../temporal/temporal-services.ts';
import { serveRunServices } from './run-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files request what a run has once. See `run-service.ts`. */
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
