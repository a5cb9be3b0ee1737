import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';

/** A directory that is removed when the test ends. Open to pass through, as a data directory of root's has to be. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `flotilla-test-${process.pid}-`));
  await chmod(directory, 0o711);
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

/** A shell script as an executable file. */
export async function script(path: string, body: string): Promise<string> {
  await writeFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  await chmod(path, 0o755);
  return path;
}

/**
 * Processor time that this process takes for `work`, in milliseconds. A bound on it holds on a busy machine too, unlike
 * one on the time that passes.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const ROUNDS = 20;
const ROWS = 4000;

/** CPU time, in milliseconds, that this machine takes for a fixed piece of work of the kind servers do. */
export function calibrate(): number {
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, title: `computer-${id}`, tags: ['web', `r${id % 7}`] }));
  const before = process.cpuUsage();
  let length = 0;
  for (let i = 0; i < ROUNDS; i++) length += JSON.stringify(JSON.parse(JSON.stringify(rows))).length;
  const { user, system } = process.cpuUsage(before);
  if (length === 0) throw new Error('nothing was done');
  return (user + system) / 1000;
}

/**
 * Starts a service of the run unless another test file has, and returns how to reach it. Waits as long as the start
 * takes: it may build a program.
 */
export async function runService<T>(name: string): Promise<T> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${inject('runServicesUrl')}/${name}`, resolve).once('error', reject);
  });
  if (response.statusCode !== 200) throw new Error(await text(response));
  return (await json(response)) as T;
}

export interface Folder {
  path: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string, mode?: number): Promise<string>;
  remove(): Promise<void>;
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'flotilla-pam-'));
  return {
    path,
    async write(name, text, mode = 0o644) {
      const file = join(path, name);
      await writeFile(file, text);
      await chmod(file, mode);
      return file;
    },
    remove: () => rm(path, { recursive: true }),
  };
}

/** A helper that knows one login, hangs for `hang`, and is undecided for `away`. */
export const SCRIPTED_HELPER = `#!/bin/sh
input=$(tr '\\000' '|')
case "$input" in
  "fleet|ada|right horse|") exit 0 ;;
  *"|hang|"*) sleep 60 & wait ;;
  *"|away|"*) exit 2 ;;
esac
exit 1
`;

/** Whether this machine has what our own helper needs. */
export function hasPam(): boolean {
  const probe = 'import ctypes; ctypes.CDLL("libpam.so.0").pam_start_confdir';
  return spawnSync('python3', ['-I', '-c', probe]).status === 0;
}
