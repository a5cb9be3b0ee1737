import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { tailOf } from './log-follower.ts';
import { PROJECT } from './roles.ts';
import { StackError } from './stack-error.ts';

/**
 * Runs a script of ours to its end, in a process of its own.
 *
 * @throws {StackError} with what it said when it fails or is aborted
 */
export async function runScript(
  command: readonly string[],
  env: Record<string, string | undefined>,
  logFile: string,
  signal: AbortSignal,
): Promise<void> {
  const log = await open(logFile, 'w', 0o600);
  const stdio = ['ignore', log.fd, log.fd] as const;
  const child = spawn(process.execPath, command, { cwd: PROJECT, env, stdio: [...stdio], detached: true });
  await log.close();
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  signal.removeEventListener('abort', kill);
  if (code !== 0) throw new StackError(`${command.join(' ')} failed:\n${tailOf(logFile)}`);
}
