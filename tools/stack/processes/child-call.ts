import { spawnLogged } from '../../temporal-server/logged-process.ts';
import { StackError } from '../stack-error.ts';
import { PROJECT } from '../topology/roles.ts';
import { tailOf } from './log-follower.ts';

/** What the child sends back. */
export type Outcome = { result: unknown } | { error: { message: string; stack: string; isStackError: boolean } };

interface ChildOptions {
  env: Record<string, string | undefined>;
  logFile: string;
  /** Kills the child. */
  signal: AbortSignal;
}

type AsyncFunction = (...args: never[]) => Promise<unknown>;

/**
 * Loads a function in a process of its own, which ends with the first call: what the function needs takes no memory of the
 * supervisor. Arguments and result are copied by structured clone.
 * @param module - path from the project
 * @returns a function to call once. It throws {@link StackError} when the function does, or when the child ends before
 */
export function loadInChild<Called extends AsyncFunction>(module: string, name: string, options: ChildOptions): Called {
  const { env, logFile, signal } = options;
  const command = ['tools/stack/processes/child-call-main.ts', module, name];
  const logging = { logFile, truncate: true, ipc: true, serialization: 'advanced' } as const;
  const child = spawnLogged(process.execPath, command, { cwd: PROJECT, env, ...logging });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const ended = new Promise<null>((resolve) =>
    child.once('exit', () => resolve(null)).once('error', () => resolve(null)),
  );
  const response = new Promise<Outcome>((resolve) => child.once('message', (message) => resolve(message as Outcome)));
  const call = async (...args: unknown[]): Promise<unknown> => {
    child.send(args, () => undefined);
    const outcome = await Promise.race([response, ended]);
    await ended;
    signal.removeEventListener('abort', kill);
    if (outcome === null) throw new StackError(`${name} did not finish:\n${tailOf(logFile)}`);
    if ('result' in outcome) return outcome.result;
    const { isStackError, message, stack } = outcome.error;
    throw isStackError ? new StackError(message) : Object.assign(new Error(message), { stack });
  };
  return call as unknown as Called;
}
