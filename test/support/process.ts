import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

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
