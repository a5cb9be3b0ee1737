import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, inheritedEnvironment } from '../../../tools/harness/stack-programs.ts';
import { findFreePorts } from '../../../tools/stack/processes/ports.ts';
import { isAlive, processesIn, signalProcess } from '../../../tools/stack/processes/processes.ts';
import { API_COMMAND, WORKER_COMMAND } from '../../../tools/stack/topology/roles.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createTestNamespace, type TestNamespace } from '../../support/temporal/temporal.ts';

const PROJECT = resolve(import.meta.dirname, '../../..');
const READY_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 90_000;

/** Settings of one process beside those that all share. */
type Settings = Readonly<Record<string, string>>;

interface RoleOptions {
  env?: Settings;
  /** Root of the code to run, with its node_modules; this project by default. Lets two builds run together. */
  project?: string;
  /** Node to run it with; that of the tests by default. */
  node?: string;
  /** User and group id to run it as; that of the tests by default. */
  user?: number;
}

/** One process of ours. */
export interface RoleProcess {
  readonly kind: string;
  readonly pid: number;
  /** Base URL of what it serves; for a worker that of its metrics. */
  readonly url: string;
  /** Base URL of `/metrics`, `/healthz` and `/readyz` of the process itself. */
  readonly metricsUrl: string;
  /** Settles with the exit code, or with the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** What it wrote since the directory was made, earlier lives under the same name included. */
  log(): string;
  /** Resolves when its `/healthz` responds (API, gateway), or when it polls its queues (worker). @throws with its log */
  ready(): Promise<void>;
  /** SIGTERM, and waits for the end. @throws when it does not end in order */
  stop(): Promise<number | NodeJS.Signals>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

/**
 * Roles as processes of their own, as an operator runs them: `npm run api`, `npm run gateway`, `npm run worker`, against
 * a PostgreSQL database and a Temporal server that none of them started.
 *
 * ```ts
 * const apart = await createProcessesApart();          // a migrated database and a namespace of this run's servers
 * await apart.command('temporal/bootstrap-main.ts');   // and others, such as workers/set-current-version.ts
 * const [a, b] = [await apart.api({ gateway: false }), await apart.api({ gateway: false })];
 * const gateway = await apart.gateway();
 * const worker = await apart.worker(['fleet-activity', 'fleet-schedule', 'fleet-report']);
 * await Promise.all([a, b, gateway, worker].map((role) => role.ready()));
 * ...                                                   // a.url, gateway.url, worker.log(), a.kill(), worker.stop()
 * await apart.dispose();                                // in afterAll: ends what still runs and drops the database
 * ```
 *
 * Other servers: `createProcessesApart({ environment: { FLOTILLA_DATABASE_URL, FLOTILLA_TEMPORAL_ADDRESS, ... } })`.
 * Every process gets its own port and metrics port; `options.env` changes settings of one, `options.project` its code.
 */
export class ProcessesApart {
  /** Holds the logs. */
  readonly root: string;
  /** The settings that all processes share, secrets included. */
  readonly environment: Settings;
  readonly #database: TestDatabase | null;
  readonly #children: ChildProcess[] = [];
  readonly #emergency: () => void;
  #named = 0;

  constructor(root: string, environment: Settings, database: TestDatabase | null) {
    this.root = root;
    this.environment = environment;
    this.#database = database;
    this.#emergency = () => {
      for (const child of this.#children) if (child.pid) signalProcess(child.pid, 'SIGKILL', true);
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    };
    process.once('exit', this.#emergency);
  }

  /** The database of its own; null where the caller named one. */
  get database(): TestDatabase {
    if (!this.#database) throw new Error('the database was named by the caller');
    return this.#database;
  }

  /** `npm run api`; without the agents' paths when `gateway` is false. */
  api(options: RoleOptions & { gateway?: boolean } = {}): Promise<RoleProcess> {
    const args = options.gateway === false ? ['--no-gateway'] : [];
    return this.#role('api', [...API_COMMAND, ...args], '/healthz', options);
  }

  /** `npm run gateway` */
  gateway(options: RoleOptions = {}): Promise<RoleProcess> {
    return this.#role('gateway', [...API_COMMAND, '--gateway-only'], '/healthz', options);
  }

  /** `npm run worker -- --queues ...` */
  worker(queues: readonly string[], options: RoleOptions = {}): Promise<RoleProcess> {
    return this.#role('worker', [...WORKER_COMMAND, '--queues', queues.join(',')], '/readyz', options);
  }

  /** `npm run fleet`; further arguments as the command takes them. Ready at once. */
  fleet(url: string, computers: number, args: readonly string[] = [], options: RoleOptions = {}): Promise<RoleProcess> {
    const command = ['tools/simulator/main.ts', '--computers', String(computers), '--url', url, ...args];
    return this.#role('fleet', command, null, options);
  }

  /** Runs a command that ends by itself, such as `src/persistence/orm/migrate.ts`. @returns its exit code and output */
  async command(script: string, options: RoleOptions & { args?: readonly string[] } = {}) {
    const { child, file } = this.#spawn(
      `${++this.#named}-${basename(script)}`,
      [script, ...(options.args ?? [])],
      options,
    );
    return { code: await exitOf(child), output: readFileSync(file, 'utf8') };
  }

  /** Running processes that this started, as text; empty when none is left. */
  running(): string[] {
    const pids = this.#children.map((child) => child.pid ?? 0).filter((pid) => pid > 0 && isAlive(pid));
    return [...pids, ...processesIn(this.root)].map(String);
  }

  /** Ends what still runs by force, and removes directory and database. */
  async dispose(): Promise<void> {
    for (const child of this.#children) if (child.pid) signalProcess(child.pid, 'SIGKILL', true);
    await this.#database?.drop();
    await rm(this.root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    process.off('exit', this.#emergency);
  }

  async #role(
    kind: string,
    args: readonly string[],
    health: string | null,
    options: RoleOptions,
  ): Promise<RoleProcess> {
    const [port, metricsPort] = await findFreePorts(2);
    const env = {
      FLOTILLA_PORT: String(port),
      FLOTILLA_METRICS_PORT: String(metricsPort),
      // Links have to lead to the process that a test called.
      FLOTILLA_PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...options.env,
    };
    const { child, file } = this.#spawn(`${kind}-${++this.#named}`, args, { ...options, env });
    const metricsUrl = `http://127.0.0.1:${metricsPort}`;
    const url = kind === 'worker' ? metricsUrl : `http://127.0.0.1:${port}`;
    const exited = exitOf(child);
    const log = () => readFileSync(file, 'utf8');
    const endsBy = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      const end = await Promise.race([exited, sleep(STOP_LIMIT_MS, null, { ref: false })]);
      if (end === null) throw new Error(`${kind} did not end by ${signal}:\n${log().slice(-4000)}`);
      return end;
    };
    return {
      kind,
      pid: child.pid ?? 0,
      url,
      metricsUrl,
      exited,
      log,
      ready: () => (health === null ? Promise.resolve() : untilHealthy(kind, `${url}${health}`, child, log)),
      stop: () => endsBy('SIGTERM'),
      kill: async () => void (await endsBy('SIGKILL')),
    };
  }

  #spawn(name: string, args: readonly string[], options: RoleOptions) {
    const file = join(this.root, `${name}.log`);
    const output = openSync(file, 'a', 0o600);
    try {
      const { project = PROJECT, node = process.execPath, user } = options;
      const child = spawn(node, ['--import', './src/process/require-node.mjs', ...args], {
        cwd: project,
        ...(user !== undefined && { uid: user, gid: user }),
        env: { ...inheritedEnvironment(), ...this.environment, ...options.env },
        stdio: ['ignore', output, output],
        detached: true,
      });
      this.#children.push(child);
      return { child, file };
    } finally {
      closeSync(output);
    }
  }
}

/** @param options - `migrated: false` leaves the schema of its own database out. See {@link ProcessesApart}. */
export async function createProcessesApart(
  options: { environment?: Settings; migrated?: boolean } = {},
): Promise<ProcessesApart> {
  const given = options.environment ?? {};
  const database = given['FLOTILLA_DATABASE_URL'] ? null : await createTestDatabase({ ...options, poolSize: 4 });
  const temporal = given['FLOTILLA_TEMPORAL_ADDRESS'] ? null : await createTestNamespace();
  const environment = {
    ...(database && { FLOTILLA_DATABASE_URL: database.url }),
    ...(temporal && namespaceSettings(temporal)),
    FLOTILLA_JWT_SECRET: randomBytes(32).toString('hex'),
    FLOTILLA_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    // All computers and clients of a test come from one address.
    FLOTILLA_API_RATE_LIMIT: '0',
    FLOTILLA_ENROLMENT_RATE_LIMIT: '0',
    ...given,
  };
  const root = await mkdtemp(join(tmpdir(), `flotilla-apart-${process.pid}-`));
  return new ProcessesApart(root, environment, database);
}

function namespaceSettings({ address, namespace }: TestNamespace): Settings {
  return { FLOTILLA_TEMPORAL_ADDRESS: address, FLOTILLA_TEMPORAL_NAMESPACE: namespace };
}

function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((settle, reject) => {
    child.once('exit', (code, signal) => settle(signal ?? code ?? 0));
    child.once('error', reject);
  });
}

async function untilHealthy(kind: string, url: string, child: ChildProcess, log: () => string): Promise<void> {
  const end = performance.now() + READY_LIMIT_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${kind} ended with ${child.exitCode ?? child.signalCode}:\n${log().slice(-4000)}`);
    }
    const { status, text } = await get(url);
    if (status === 200) return;
    if (performance.now() > end) throw new Error(`${kind} is not ready (${status} ${text}):\n${log().slice(-4000)}`);
    await sleep(50);
  }
}
