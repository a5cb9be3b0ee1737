import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePorts } from '../../../tools/stack/processes/ports.ts';
import { isAlive } from '../../../tools/stack/processes/processes.ts';

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
  return { ...settings, FLOTILLA_DATA_DIR: dataDir, ...more };
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

/** Command lines of running processes that belong to a stack: those that name its data directory, or have it as setting. */
export function processesOfStack(dataDir: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid || !isAlive(Number(pid))) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return command.includes(dataDir) || environment.includes(`FLOTILLA_DATA_DIR=${dataDir}\0`)
        ? [`${pid} ${command}`]
        : [];
    } catch {
      return [];
    }
  });
}
