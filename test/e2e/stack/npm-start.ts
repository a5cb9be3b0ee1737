import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TemporalTlsSettings } from '../../../src/process/config.ts';
import { stackTls } from '../../../tools/harness/stack-access.ts';
import { environmentOf, killStack, processesOf } from '../../../tools/harness/stack-processes.ts';
import { inheritedEnvironment, spawnProgram } from '../../../tools/harness/stack-programs.ts';
import { findFreePorts, isPortFree } from '../../../tools/stack/processes/ports.ts';
import { signalProcess } from '../../../tools/stack/processes/processes.ts';
import { readRunning } from '../../../tools/stack/processes/running-file.ts';
import { runService } from '../../support/common/process.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const READY_LIMIT_MS = 300_000;

/** An npm script as a user runs it. */
export interface RunningScript {
  /** The process of npm; it leads a process group of its own. */
  process: ChildProcess;
  /** What it printed so far, both streams. */
  output(): string;
  /** Resolves to the exit code. */
  exited: Promise<number | null>;
}

/** `npm start` as a user runs it, on ports of its own. */
export interface RunningStack extends RunningScript {
  baseUrl: string;
  /** Resolves when GET /readyz is 200. @throws with the output when it ends before */
  ready(): Promise<void>;
}

/** Settings with free ports for a stack on the directory; they can be used for several starts. */
export async function stackSettings(
  dataDir: string,
  more: Record<string, string> = {},
): Promise<Record<string, string>> {
  const names = ['PORT', 'DATABASE_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'METRICS_PORT'];
  const ports = await findFreePorts(names.length);
  const settings = Object.fromEntries(names.map((name, index) => [`FLOTILLA_${name}`, String(ports[index])]));
  return { ...settings, FLOTILLA_DATA_DIR: dataDir, FLOTILLA_WEB_PAGE: 'false', ...more };
}

/** @param args - what follows `npm start --` */
export function startStack(settings: Record<string, string>, args: readonly string[] = []): RunningStack {
  const script = runScript('start', settings, args);
  const baseUrl = `http://127.0.0.1:${settings['FLOTILLA_PORT']}`;
  return { ...script, baseUrl, ready: () => becomeReady(script.process, baseUrl, script.output) };
}

/** `npm run <name>` with no settings but these. @param args - what follows `--` */
export function runScript(
  name: string,
  settings: Record<string, string>,
  args: readonly string[] = [],
  input: string | null = null,
): RunningScript {
  // Vitest's own variables would change how the processes behave.
  const inherited = Object.entries(process.env).filter(([key]) => !/^(VITEST|NODE_|TEST$|FLOTILLA_|npm_)/.test(key));
  const child = spawn('npm', ['run', name, '--', ...args], {
    cwd: PROJECT,
    env: { ...Object.fromEntries(inherited), ...settings },
    detached: true,
    stdio: [input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, output: () => output, exited };
}

async function becomeReady(child: ChildProcess, baseUrl: string, output: () => string): Promise<void> {
  const end = performance.now() + READY_LIMIT_MS;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the stack ended with code ${child.exitCode}:\n${output()}`);
    if (performance.now() > end) throw new Error(`the stack is not ready:\n${output()}`);
    const response = await fetch(`${baseUrl}/readyz`).catch(() => null);
    await response?.body?.cancel();
    // The address and the password are printed right after; whoever waits for readiness wants them too.
    if (response?.ok && output().includes('Ctrl-C stops everything')) return;
    await sleep(50);
  }
}

const STOP_LIMIT_MS = 120_000;
/** More than the topology takes from its first port on. */
const PORTS = 60;

/** Directory of the Temporal server's programs. @throws with the reason when this machine cannot have them */
export async function officialServerDirectory(): Promise<string> {
  return (await runService<{ directory: string }>('temporal-server-programs')).directory;
}

/** `npm run topology` on ports and a directory of its own. `dispose` ends and removes all of it. */
export class TestTopology {
  readonly root: string;
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  /** Of the Temporal server. */
  readonly temporalAddress: string;
  readonly temporalUi: string;
  readonly temporalTls: TemporalTlsSettings;
  readonly environment: Record<string, string>;
  readonly #firstPort: number;
  readonly #emergency: () => void;
  #child: ChildProcess | null = null;

  constructor(root: string, firstPort: number, environment: Record<string, string>) {
    const at = (offset: number) => `http://127.0.0.1:${firstPort + offset}`;
    this.root = root;
    this.#firstPort = firstPort;
    this.apis = [at(0), at(1)];
    this.gateways = [at(10), at(11)];
    this.temporalAddress = `127.0.0.1:${firstPort + 20}`;
    this.temporalUi = at(21);
    this.temporalTls = stackTls(join(root, 'topology'));
    this.environment = {
      ...inheritedEnvironment(),
      FLOTILLA_DATA_DIR: root,
      FLOTILLA_PORT: String(firstPort),
      FLOTILLA_TEMPORAL_PORT: String(firstPort + 20),
      FLOTILLA_TEMPORAL_UI_PORT: String(firstPort + 21),
      FLOTILLA_DATABASE_PORT: String(firstPort + 22),
      FLOTILLA_METRICS_PORT: String(firstPort + 23),
      // Whoever tests the web page turns it on: the others need not build it.
      FLOTILLA_WEB_PAGE: 'false',
      // All computers and clients of a test come from one address.
      FLOTILLA_API_RATE_LIMIT: '0',
      FLOTILLA_ENROLMENT_RATE_LIMIT: '0',
      ...environment,
    };
    this.#emergency = () => {
      for (const { pid } of processesOf(root)) signalProcess(pid, 'SIGKILL');
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    };
    process.once('exit', this.#emergency);
  }

  /** @throws with its output when it ends or is not ready in time */
  async start(args: readonly string[] = []): Promise<void> {
    const internal = ['--temporal-internal-port', String(this.#firstPort + 40)];
    const child = spawnProgram(
      ['tools/stack/topology/topology-main.ts', ...internal, ...args],
      this.environment,
      this.#outputFile,
    );
    this.#child = child;
    const end = performance.now() + READY_LIMIT_MS;
    while (!this.output().includes('Ctrl-C stops everything')) {
      if (child.exitCode !== null) throw new Error(`the topology ended:\n${this.output()}`);
      if (performance.now() > end) throw new Error(`the topology is not ready:\n${this.output()}`);
      await sleep(100);
    }
  }

  output(): string {
    return existsSync(this.#outputFile) ? readFileSync(this.#outputFile, 'utf8') : '';
  }

  /** Log of one process, by the name it has in the topology. */
  log(name: string): string {
    return readFileSync(join(this.root, 'topology', 'logs', `${name}.log`), 'utf8');
  }

  /** The latest process id under a name. */
  pid(name: string): number {
    const { processes } = readRunning(join(this.root, 'topology', 'running.json'));
    const pid = processes.findLast((one) => one.name === name)?.pid;
    if (!pid) throw new Error(`no process ${name} among ${processes.map((one) => one.name).join(', ')}`);
    return pid;
  }

  /** The connection string that its processes were given. */
  databaseUrl(): string {
    return environmentOf(this.pid('api-1'), 'FLOTILLA_DATABASE_URL') ?? '';
  }

  /** Ends it as an operator does. Returns the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    if (!child) throw new Error('not started');
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const code = await Promise.race([exited, sleep(STOP_LIMIT_MS, 'late' as const, { ref: false })]);
    if (code === 'late') throw new Error(`the topology did not stop:\n${this.output()}`);
    return code;
  }

  /** What runs on its directory. */
  processes(): string[] {
    return processesOf(this.root).map(({ pid, command }) => `${pid} ${command}`);
  }

  async dispose(): Promise<void> {
    await killStack(this.root);
    await rm(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    process.off('exit', this.#emergency);
  }

  get #outputFile(): string {
    return join(this.root, 'output.log');
  }
}

/** @param programs - see {@link officialServerDirectory} */
export async function createTopology(
  programs: string,
  environment: Record<string, string> = {},
): Promise<TestTopology> {
  const root = await mkdtemp(join(tmpdir(), `flotilla-topology-${process.pid}-`));
  await chmod(root, 0o711);
  const firstPort = await chooseFirstPort();
  return new TestTopology(root, firstPort, { FLOTILLA_TEMPORAL_SERVER_DIR: programs, ...environment });
}

/** Below the range that the system takes for outgoing connections. */
async function chooseFirstPort(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 140) * PORTS;
    const ports = Array.from({ length: PORTS }, (_, index) => first + index);
    if ((await Promise.all(ports.map((port) => isPortFree('127.0.0.1', port)))).every(Boolean)) return first;
  }
}
