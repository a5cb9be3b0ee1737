import type { ChildProcess } from 'node:child_process';
import type { Resources } from './resources.ts';

/**
 * Starts a Node program of ours with an IPC channel and waits until it says that it is ready.
 *
 * @throws when it ends before
 */
export async function startChild(
  resources: Resources,
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = resources.spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code} before it was ready`)));
    child.once('message', () => resolve());
  });
  return child;
}
