import { constants } from 'node:fs';
import { access, chmod, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { takeMachineLock } from '../temporal-server/machine-lock.ts';
import { stopLeftoverServer } from './database/postgres.ts';
import { readRunning, stopOrphans } from './processes/running-file.ts';
import { exists, loadSecrets, type StackSecrets } from './secrets.ts';
import { StackError } from './stack-error.ts';

/** The places of one embedded stack on disk. */
export interface DataDirectory {
  root: string;
  secrets: string;
  /** Currently running processes, for the next start in case this one is killed. */
  running: string;
  postgres: string;
  temporalDatabase: string;
  /** Certificates by which the parts of this stack authenticate each other. */
  certificates: string;
  fleetState: string;
  log(name: string): string;
  /** Lets another stack use the directory. */
  release(): void;
}

/**
 * Creates the data directory if it is missing and locks it for this process. The lock ends with the process, so a
 * killed stack never blocks the next one.
 * @throws {StackError} when it cannot be created or written, or another stack uses it
 */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const root = await makeDirectories(path);
  const release = await takeMachineLock(`data directory ${root}`);
  const running = join(root, 'running.json');
  if (!release) {
    const owner = readRunning(running).supervisor;
    throw new StackError(
      `Another Flotilla${owner ? ` (process ${owner})` : ''} runs on the data directory ${root}: ` +
        'stop it first, or set FLOTILLA_DATA_DIR and other ports for a second one.',
    );
  }
  return {
    root,
    secrets: join(root, 'secrets.json'),
    running,
    postgres: join(root, 'postgres'),
    temporalDatabase: join(root, 'temporal', 'temporal.db'),
    certificates: join(root, 'temporal', 'tls'),
    fleetState: join(root, 'fleet', 'state.json'),
    log: (name) => join(root, 'logs', `${name}.log`),
    release,
  };
}

async function makeDirectories(path: string): Promise<string> {
  try {
    const made = await mkdir(path, { recursive: true });
    const root = await realpath(path);
    // As root, PostgreSQL runs as another user and has to pass through; the contents have their own permissions.
    if (made) await chmod(root, process.getuid?.() === 0 ? 0o711 : 0o700);
    for (const name of ['logs', 'temporal', 'fleet']) {
      await mkdir(join(root, name), { recursive: true, mode: 0o700 });
      await chmod(join(root, name), 0o700);
    }
    await access(root, constants.R_OK | constants.W_OK | constants.X_OK);
    return root;
  } catch (error) {
    throw new StackError(
      `The data directory ${path} cannot be used (${(error as Error).message}): ` +
        'set FLOTILLA_DATA_DIR to a directory that this user can write.',
      { cause: error },
    );
  }
}

export interface Preparation {
  name: string;
  report(message: string): void;
  /** @throws {StackError} when a port is taken */
  checkPorts(): Promise<void>;
}

/** Stops what a killed stack left running, checks the ports, and reads or creates the secrets. */
export async function prepareDirectory(
  data: DataDirectory,
  { name, report, checkPorts }: Preparation,
): Promise<StackSecrets> {
  const orphans = await stopOrphans(data.running);
  if (orphans.length > 0) report(`ended what a killed ${name} left running: ${orphans.join(', ')}`);
  const hasPostgres = await exists(data.postgres);
  if (hasPostgres) await stopLeftoverServer(data.postgres);
  await checkPorts();
  const hasData = hasPostgres || (await exists(data.temporalDatabase));
  return loadSecrets(data.secrets, hasData);
}
