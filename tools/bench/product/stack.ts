import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { asSuperuser } from '../../harness/stack-access.ts';
import { findFreePorts } from '../../stack/processes/ports.ts';
import { isAlive, signalProcess } from '../../stack/processes/processes.ts';
import { listProcesses, treeOf } from '../harness/proc.ts';
import { type Resources, stopProcess } from '../harness/resources.ts';
import type { Role } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';
import { environmentOf, productRoles } from './roles.ts';

/** The product under test, as users run it, with its own ports and folder. */
export interface Stack {
  /** Of an API. */
  readonly port: number;
  /** Of all APIs and gateways. */
  readonly apiPorts: readonly number[];
  readonly agentPorts: readonly number[];
  readonly dataDir: string;
  readonly startedAt: number;
  /** API, workers, Temporal and PostgreSQL, each with everything below it, and the supervisor. */
  readonly roles: readonly Role[];
  /** Settings that the supervisor passed to the API process. */
  environment(): Record<string, string>;
  /** Resolves when GET /readyz is 200 everywhere. */
  ready(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** A started supervisor. */
export interface Launched {
  child: ChildProcess;
  logFile: string;
  startedAt: number;
}

export const ADMIN = { email: 'bench@example.com', password: 'a-password-for-the-bench-1' } as const;

/** Settings of every measured product: all requests come from one address and one person. */
export const COMMON_SETTINGS = {
  FLOTILLA_SIMULATED_COMPUTERS: '0',
  FLOTILLA_ADMIN_EMAIL: ADMIN.email,
  FLOTILLA_ADMIN_PASSWORD: ADMIN.password,
  FLOTILLA_API_RATE_LIMIT: '0',
  FLOTILLA_ENROLMENT_RATE_LIMIT: '0',
} as const;

const READY_LIMIT_MS = 120_000;

/**
 * Starts the embedded stack without simulated computers.
 * @param dataDir - of an earlier start, for a warm one
 * @param env - further settings
 */
export async function startStack(
  resources: Resources,
  root: string,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  const [free, database, temporal, ui, metrics] = await findFreePorts(5);
  const settings = {
    FLOTILLA_PORT: String(free),
    FLOTILLA_DATABASE_PORT: String(database),
    FLOTILLA_TEMPORAL_PORT: String(temporal),
    FLOTILLA_TEMPORAL_UI_PORT: String(ui),
    FLOTILLA_METRICS_PORT: String(metrics),
    FLOTILLA_DATA_DIR: dataDir,
    ...COMMON_SETTINGS,
    ...env,
  };
  const port = Number(settings.FLOTILLA_PORT);
  const launched = launch(resources, root, ['tools/stack/main.ts'], `${dataDir}.log`, settings);
  return {
    port,
    apiPorts: [port],
    agentPorts: [port],
    dataDir,
    ...operated(launched),
    roles: productRoles(launched.child, ['API', 'worker', 'Temporal', 'PostgreSQL', 'supervisor']),
    async ready() {
      await serves(launched, port);
      await letMeasure(dataDir, launched.child);
    },
  };
}

/** Grants the benchmark rights that the product lacks, to read statement logs and other databases. */
export async function letMeasure(dataDir: string, supervisor: ChildProcess): Promise<void> {
  const url = environmentOf(supervisor)['FLOTILLA_DATABASE_URL']!;
  await asSuperuser(dataDir, url, `alter role ${new URL(url).username} superuser`);
}

/** Starts a supervisor with its output in a file. */
export function launch(
  resources: Resources,
  root: string,
  command: readonly string[],
  logFile: string,
  settings: Readonly<Record<string, string>>,
): Launched {
  const log = openSync(logFile, 'a');
  const startedAt = performance.now();
  const child = resources.spawn(process.execPath, ['--import', './src/process/require-node.mjs', ...command], {
    cwd: root,
    env: { ...resources.env, ...settings },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return { child, logFile, startedAt };
}

/** Operations that all kinds of products share. */
export function operated({ child, startedAt }: Launched): Pick<Stack, 'startedAt' | 'environment' | 'stop' | 'kill'> {
  return {
    startedAt,
    environment: () => environmentOf(child),
    stop: () => stopProcess(child),
    kill: () => killTree(child),
  };
}

/** The supervisor first, because it would restart the others. */
async function killTree(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const tree = treeOf(listProcesses(), child.pid!).map(({ pid }) => pid);
  for (const pid of tree) signalProcess(pid, 'SIGKILL');
  await ended;
  const haveEnded = () => (tree.some(isAlive) ? null : true);
  await waitFor('the end of killed processes', haveEnded, { everyMs: 20, limitMs: 20_000 });
}

/** Waits until GET /readyz on a port is 200. @throws with the log when the supervisor has exited */
export async function serves({ child, logFile }: Launched, port: number): Promise<void> {
  await waitFor(
    `GET /readyz on port ${port}`,
    async () => {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(
          `the product ended with code ${child.exitCode}:\n${readFileSync(logFile, 'utf8').slice(-4000)}`,
        );
      }
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      await response?.body?.cancel();
      return response?.status === 200 ? true : null;
    },
    { everyMs: 20, limitMs: READY_LIMIT_MS },
  );
}
