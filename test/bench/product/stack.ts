import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, listProcesses, treeOf } from '../harness/proc.ts';
import { freePorts, type Resources, stopProcess } from '../harness/resources.ts';
import type { Role } from '../harness/usage.ts';
import { waitFor } from '../harness/wait.ts';

/** The product under test: `npm start` as a user runs it, on ports and in a folder of its own. */
export interface Stack {
  readonly port: number;
  readonly dataDir: string;
  /** When the process was started, by `performance.now()`. */
  readonly startedAt: number;
  /** Supervisor, API, workers, Temporal and PostgreSQL, each with everything below it. */
  readonly roles: readonly Role[];
  /** Settings as the supervisor gave them to the API process. */
  environment(): Record<string, string>;
  /** Resolves when GET /readyz is 200. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

export const ADMIN = { email: 'bench@example.com', password: 'a-password-for-the-bench-1' } as const;

/** Names of the product's roles in the order of the table. */
export const PRODUCT_ROLES = ['API', 'worker', 'Temporal', 'PostgreSQL', 'supervisor'] as const;

/** How to tell the processes below the supervisor apart, first match wins. */
const ROLE_COMMANDS: ReadonlyArray<{ name: (typeof PRODUCT_ROLES)[number]; command: RegExp }> = [
  { name: 'API', command: /\bsrc\/main\.ts\b/ },
  { name: 'worker', command: /\bworkers\/main\.ts\b/ },
  { name: 'Temporal', command: /\bserver start-dev\b/ },
  { name: 'PostgreSQL', command: /\bbin\/postgres\b/ },
];

const READY_LIMIT_MS = 120_000;

/**
 * Starts the embedded stack without simulated computers.
 *
 * @param dataDir - kept from an earlier start for a warm one
 * @param env - further settings
 */
export async function startStack(
  resources: Resources,
  root: string,
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  const [port, database, temporal, ui, metrics] = await freePorts(5);
  const settings = {
    FLOTILLA_PORT: String(port),
    FLOTILLA_DATABASE_PORT: String(database),
    FLOTILLA_TEMPORAL_PORT: String(temporal),
    FLOTILLA_TEMPORAL_UI_PORT: String(ui),
    FLOTILLA_METRICS_PORT: String(metrics),
    FLOTILLA_DATA_DIR: dataDir,
    FLOTILLA_SIMULATED_COMPUTERS: '0',
    FLOTILLA_ADMIN_EMAIL: ADMIN.email,
    FLOTILLA_ADMIN_PASSWORD: ADMIN.password,
    ...env,
  };
  const logFile = `${dataDir}.log`;
  const log = openSync(logFile, 'a');
  const startedAt = performance.now();
  const command = ['--import', './src/require-node.mjs', 'src/stack/main.ts'];
  const child = resources.spawn(process.execPath, command, {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return {
    port: port!,
    dataDir,
    startedAt,
    roles: productRoles(child),
    environment: () => environmentOf(child),
    ready: () => becomeReady(child, port!, logFile),
    stop: () => stopProcess(child),
  };
}

function productRoles(supervisor: ChildProcess): Role[] {
  const find = (name: string) => () => rolePids(supervisor.pid!).get(name) ?? [];
  return [
    ...ROLE_COMMANDS.map(({ name }): Role => {
      return { name, roots: find(name), memory: name === 'PostgreSQL' ? 'proportional' : 'resident' };
    }),
    { name: 'supervisor', roots: () => [supervisor.pid!], alone: true },
  ];
}

/** The topmost process of each role below the supervisor. */
function rolePids(supervisor: number): Map<string, number[]> {
  const tree = treeOf(listProcesses(), supervisor);
  const roleOf = new Map<number, string>();
  const found = new Map<string, number[]>();
  for (const { pid, parent } of tree) {
    const role = roleOf.get(parent) ?? ROLE_COMMANDS.find(({ command }) => command.test(commandLine(pid)))?.name;
    if (role === undefined || pid === supervisor) continue;
    if (!roleOf.has(parent)) found.set(role, [...(found.get(role) ?? []), pid]);
    roleOf.set(pid, role);
  }
  return found;
}

function environmentOf(supervisor: ChildProcess): Record<string, string> {
  const pid = rolePids(supervisor.pid!).get('API')?.[0];
  if (pid === undefined) throw new Error('the stack has no API process');
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const settings = entries.filter((entry) => entry.startsWith('FLOTILLA_'));
  return Object.fromEntries(settings.map((entry) => [entry.split('=', 1)[0]!, entry.slice(entry.indexOf('=') + 1)]));
}

/** The program file of the Temporal server that runs below the stack. */
export function temporalBinary(stack: Stack): string {
  const pid = stack.roles.find((role) => role.name === 'Temporal')?.roots()[0];
  if (pid === undefined) throw new Error('the stack runs no Temporal server');
  return join('/proc', String(pid), 'exe');
}

async function becomeReady(child: ChildProcess, port: number, logFile: string): Promise<void> {
  await waitFor(
    'GET /readyz',
    async () => {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the stack ended with code ${child.exitCode}:\n${readFileSync(logFile, 'utf8').slice(-4000)}`);
      }
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      await answer?.body?.cancel();
      return answer?.status === 200 ? true : null;
    },
    { everyMs: 20, limitMs: READY_LIMIT_MS },
  );
}
