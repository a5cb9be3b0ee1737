import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signalProcess } from '../../stack/processes/processes.ts';
import { listProcesses, treeOf } from './proc.ts';

/** Processes and folders of one benchmark run; `release` stops and removes them, newest first. */
export interface Resources {
  /** Of the benchmark's own process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Starts a process in its own group, so that Ctrl-C reaches it only through `release`. */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  /** Creates a folder that every user may enter: under root, PostgreSQL runs as another user. */
  folder(prefix: string): string;
  defer(end: () => Promise<void> | void): void;
  /** Stops everything; safe to call twice. */
  release(): Promise<void>;
}

const STOP_LIMIT_MS = 20_000;

export function createResources(env: Resources['env']): Resources {
  const ends: Array<() => Promise<void> | void> = [];
  let released = Promise.resolve();
  const endAll = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) {
      await Promise.resolve(end()).catch((error: unknown) => process.stderr.write(`cleaning up: ${String(error)}\n`));
    }
  };
  return {
    env,
    spawn(command, args, options = {}) {
      const child = spawn(command, args, { ...options, detached: true });
      ends.push(() => stopProcess(child));
      return child;
    },
    folder(prefix) {
      const path = mkdtempSync(join(tmpdir(), prefix));
      chmodSync(path, 0o755);
      ends.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
      return path;
    },
    defer: (end) => void ends.push(end),
    release() {
      // Serialized: the caller that releases on a signal exits afterwards, and must not interrupt another release.
      released = released.then(endAll);
      return released;
    },
  };
}

/**
 * Stops a process by SIGTERM, and its whole tree by force after 20 s.
 * @returns seconds until it exited; at once when it had exited before
 */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const tree = treeOf(listProcesses(), child.pid).map((p) => p.pid);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => tree.map((pid) => signalProcess(pid, 'SIGKILL')), STOP_LIMIT_MS);
  await ended;
  clearTimeout(timer);
}
