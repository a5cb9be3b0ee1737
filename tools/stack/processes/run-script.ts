import { readFileSync } from 'node:fs';
import { spawnLogged } from '../../temporal-server/logged-process.ts';
import { StackError } from '../stack-error.ts';
import { PROJECT } from '../topology/roles.ts';
import { tailOf } from './log-follower.ts';
import type { ServiceContext } from './services.ts';

/** Seconds on any machine that works; what starts next waits for it. */
const BUILD_LIMIT_MS = 120_000;

/**
 * Runs a script that builds what the stack can do without, for at most two minutes. Never rejects.
 * @param build - `otherwise`: what happens if it fails, which is reported with the reason
 */
export async function runBuild(
  command: readonly string[],
  build: Pick<ServiceContext, 'env' | 'report'> & { logFile: string; otherwise: string },
  signal: AbortSignal,
): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(BUILD_LIMIT_MS)]);
  await runScript(command, build.env, build.logFile, limited).catch((error: Error) => {
    if (!signal.aborted) build.report(`${build.otherwise}: ${error.message}`);
  });
}

/**
 * Runs a script of the project in a process of its own.
 * @returns the last line of its output that is no log line; empty when there is none
 * @throws {StackError} with the end of its log when it fails or is aborted
 */
export async function runScript(
  command: readonly string[],
  env: Record<string, string | undefined>,
  logFile: string,
  signal: AbortSignal,
): Promise<string> {
  const child = spawnLogged(process.execPath, command, { cwd: PROJECT, env, logFile, truncate: true });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const code = await new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  signal.removeEventListener('abort', kill);
  if (code !== 0) throw new StackError(`${command.join(' ')} failed:\n${tailOf(logFile)}`);
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  return lines.findLast((line) => !line.startsWith('{')) ?? '';
}
