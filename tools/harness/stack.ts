import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { encryptionKeys } from '../../src/process/setting-types.ts';
import { connectClient, type TemporalClient } from '../../temporal/client/connection.ts';
import { findFreePorts } from '../stack/processes/ports.ts';
import { isAlive, signalProcess } from '../stack/processes/processes.ts';
import { asSuperuser, stackTls } from './stack-access.ts';
import {
  environmentOf,
  killHard,
  killStack,
  processesOf,
  processesOfRole,
  type StackProcess,
  type StackRole,
} from './stack-processes.ts';
import { get, inheritedEnvironment, spawnProgram } from './stack-programs.ts';
import { searchStackLogs } from './test-log.ts';

const PREFIX = 'flotilla-e2e-';
const READY_LIMIT_MS = 300_000;
const STOP_LIMIT_MS = 15_000;

export interface StackPorts {
  api: number;
  database: number;
  temporal: number;
  temporalUi: number;
  metrics: number;
}

export interface StackRun {
  child: ChildProcess;
  /** Resolves when the supervisor has exited. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * One embedded stack with its own directory, ports and settings, which can be started, killed and restarted on the same
 * data. `dispose`, or the end of the test process, removes everything including processes; the next run removes what a
 * killed test process left behind.
 */
export class TestStack {
  /** Data of the stack, and logs of other programs that tests start. */
  readonly root: string;
  readonly dataDir: string;
  readonly ports: StackPorts;
  readonly url: string;
  readonly #env: Record<string, string>;
  readonly #emergency: () => void;
  #run: StackRun | null = null;
  #pool: pg.Pool | null = null;
  #temporal: TemporalClient | null = null;

  constructor(root: string, ports: StackPorts, env: Record<string, string>) {
    this.root = root;
    this.dataDir = join(root, 'data');
    this.ports = ports;
    this.url = `http://127.0.0.1:${ports.api}`;
    this.#env = env;
    this.#emergency = () => {
      for (const p of processesOf(root)) signalProcess(p.pid, 'SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    };
    process.once('exit', this.#emergency);
  }

  /** Starts the supervisor as `npm start` does, without waiting for it. */
  launch(env: Record<string, string> = {}): StackRun {
    const child = spawnProgram(['tools/stack/main.ts'], { ...this.environment(), ...env }, this.outputFile);
    const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((settle) => {
      child.once('exit', (code, signal) => settle({ code, signal }));
    });
    this.#run = { child, exited };
    return this.#run;
  }

  /**
   * Starts the stack and waits until `/readyz` returns 200 and the supervisor has announced it.
   * @throws with the end of the output when it exits before or is not ready in time
   */
  async start(env: Record<string, string> = {}): Promise<void> {
    const before = this.#readyCount();
    const run = this.launch(env);
    let ended = false;
    void run.exited.then(() => {
      ended = true;
    });
    const isReady = async (): Promise<boolean> =>
      this.#readyCount() > before && (await this.readiness()).status === 200;
    await this.waitUntil('the stack to be ready', async () => ended || (await isReady()), { limitMs: READY_LIMIT_MS });
    if (ended) throw new Error(`the stack ended before it was ready:\n${this.output().slice(-4000)}`);
  }

  /** Sends a signal to the supervisor, or to its whole process group as a terminal does, and waits for its exit. */
  async stop(
    signal: NodeJS.Signals = 'SIGTERM',
    group = false,
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (!this.#run) throw new Error('the stack was not started');
    signalProcess(this.#run.child.pid ?? 0, signal, group);
    const limit = sleep(STOP_LIMIT_MS * 2, null, { ref: false });
    const end = await Promise.race([this.#run.exited, limit]);
    if (!end) throw new Error(`the stack did not stop: ${this.describeProcesses()}`);
    this.#run = null;
    await this.#disconnect();
    return end;
  }

  /** Standard output and standard error of the stack since its directory was created. */
  output(): string {
    return readFileSync(this.outputFile, 'utf8');
  }

  get outputFile(): string {
    return join(this.root, 'output.log');
  }

  processes(role?: StackRole): StackProcess[] {
    return role ? processesOfRole(this.dataDir, role) : processesOf(this.dataDir);
  }

  describeProcesses(): string {
    const list = this.processes().map((p) => `${p.pid} ${p.role} ${p.command.slice(0, 120)}`);
    return list.length === 0 ? 'no process' : list.join('\n');
  }

  /** Kills every process of the roles by SIGKILL. @throws when a role has none */
  async kill(...roles: StackRole[]): Promise<number[]> {
    const all = this.processes();
    for (const role of roles) {
      if (!all.some((p) => p.role === role))
        throw new Error(`no process of role ${role}:\n${this.describeProcesses()}`);
    }
    return killHard(all.filter((p) => roles.includes(p.role)));
  }

  /** Kills all processes of the stack at once, the supervisor first. */
  async killEverything(): Promise<void> {
    const first = (p: StackProcess): number => (p.role === 'supervisor' ? 0 : 1);
    await killHard(this.processes().toSorted((a, b) => first(a) - first(b)));
    await killStack(this.dataDir);
    this.#run = null;
    await this.#disconnect();
  }

  async readiness(): Promise<{ status: number; text: string }> {
    return get(`${this.url}/readyz`);
  }

  /** Queries the database directly, over a pool that survives restarts of the server. */
  async rows<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    this.#pool ??= openPool(this.databaseUrl());
    const pool = this.#pool;
    // The first statement on a connection notices that it broke with the server.
    const first = pool.query<T>(text, values).catch((error: Error) => {
      if (!error.message.startsWith('Connection terminated')) throw error;
      return pool.query<T>(text, values);
    });
    return (await first).rows;
  }

  /** Runs a statement as an operator, with rights that the stack's processes lack. */
  administer(statement: string): Promise<void> {
    return asSuperuser(this.dataDir, this.databaseUrl(), statement);
  }

  databaseUrl(): string {
    return this.#setting('FLOTILLA_DATABASE_URL');
  }

  /** A client that decrypts the payloads of the stack's workers. */
  async temporal(): Promise<TemporalClient['client']> {
    this.#temporal ??= await connectClient({
      temporalAddress: `127.0.0.1:${this.ports.temporal}`,
      temporalTls: stackTls(this.dataDir),
      temporalNamespace: this.#setting('FLOTILLA_TEMPORAL_NAMESPACE', 'flotilla'),
      encryptionKeys: encryptionKeys.parse(this.#setting('FLOTILLA_ENCRYPTION_KEYS')),
    });
    return this.#temporal.client;
  }

  /** Repeats a check until it returns true; an error counts as false. @throws naming the wait after the limit */
  async waitUntil(
    what: string,
    check: () => Promise<boolean> | boolean,
    options: { limitMs?: number; everyMs?: number } = {},
  ): Promise<void> {
    const { limitMs = 60_000, everyMs = 100 } = options;
    const end = performance.now() + limitMs;
    let last: unknown = null;
    while (performance.now() < end) {
      try {
        if (await check()) return;
        last = null;
      } catch (error) {
        last = error;
      }
      await sleep(everyMs);
    }
    const reason = last instanceof Error ? ` (${last.message})` : '';
    throw new Error(`waited ${limitMs / 1000} s for ${what}${reason}\n${this.output().slice(-3000)}`);
  }

  environment(): Record<string, string> {
    return {
      ...inheritedEnvironment(),
      FLOTILLA_DATA_DIR: this.dataDir,
      FLOTILLA_PORT: String(this.ports.api),
      FLOTILLA_DATABASE_PORT: String(this.ports.database),
      FLOTILLA_TEMPORAL_PORT: String(this.ports.temporal),
      FLOTILLA_TEMPORAL_UI_PORT: String(this.ports.temporalUi),
      FLOTILLA_METRICS_PORT: String(this.ports.metrics),
      // Whoever tests the web page turns it on: the others need not build it.
      FLOTILLA_WEB_PAGE: 'false',
      ...this.#env,
    };
  }

  #readyCount(): number {
    return existsSync(this.outputFile) ? this.output().split('Ctrl-C stops everything').length - 1 : 0;
  }

  /** Kills every process on the stack's directory and removes the directory. */
  async dispose(): Promise<void> {
    await this.#disconnect();
    searchStackLogs(this, this.#env);
    await killStack(this.root);
    await rm(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    process.off('exit', this.#emergency);
  }

  /** Reads a setting from the environment of a stack's process, because the stack generates secrets. */
  #setting(name: string, fallback?: string): string {
    for (const p of this.processes()) {
      const value = p.role === 'worker' || p.role === 'api' ? environmentOf(p.pid, name) : null;
      if (value) return value;
    }
    if (fallback !== undefined) return fallback;
    throw new Error(`no running worker or API process has ${name}:\n${this.describeProcesses()}`);
  }

  async #disconnect(): Promise<void> {
    const [pool, temporal] = [this.#pool, this.#temporal];
    this.#pool = null;
    this.#temporal = null;
    await Promise.allSettled([pool?.end(), temporal?.close()]);
  }
}

/** Creates a stack, not started yet, on free ports and in a fresh temporary directory. */
export async function createStack(env: Record<string, string> = {}): Promise<TestStack> {
  return new TestStack(await newStackRoot(), await choosePorts(), env);
}

/** A fresh temporary directory for a stack; removes what killed test processes left behind. */
export async function newStackRoot(): Promise<string> {
  await removeLeftovers();
  const root = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The embedded PostgreSQL runs as another user when the tests run as root.
  await chmod(root, 0o711);
  await mkdir(join(root, 'beside'));
  return root;
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 5000 });
  // Connections break when the server is killed; the next query opens another.
  pool.on('error', () => undefined);
  return pool;
}

export async function choosePorts(): Promise<StackPorts> {
  const [api = 0, database = 0, temporal = 0, temporalUi = 0, metrics = 0] = await findFreePorts(5);
  return { api, database, temporal, temporalUi, metrics };
}

async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : Number.NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const directory = join(tmpdir(), name);
    await killStack(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }).catch(() => undefined);
  }
}
