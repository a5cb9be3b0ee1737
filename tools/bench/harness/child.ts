import type { ChildProcess } from 'node:child_process';
import type { Resources } from './resources.ts';

/** Starts a Node program of ours with an IPC channel and waits until it is ready. @throws when it exits before */
export async function startChild(
  resources: Resources,
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ChildProcess> {
  const child = resources.spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...resources.env, ...env },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code} before it was ready`)));
    child.once('message', () => resolve());
  });
  return child;
}

/** Sends a message to a child and resolves to its reply. @throws when the child exits before */
export function requestChild<Reply extends object>(
  child: ChildProcess,
  title: string,
  message: object,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${title} ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (reply) => {
      child.off('exit', onExit);
      resolve(reply as Reply);
    });
    child.send(message);
  });
}
