import type { ChildProcess } from 'node:child_process';
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

const MAIN = 'tools/stack/processes/child-call-main.ts';

/** Messages are copied by structured clone, not by JSON. */
export const CALL_SERIALIZATION = 'advanced';

/**
 * Loads a function in a process of its own, which ends with the first call: what the function needs takes no memory of the
 * supervisor. Arguments and result are copied by structured clone.
 * @param module - path from the project
 * @returns a function to call once. It throws {@link StackError} when the function does, or when the child ends before
 */
export function loadInChild<Called extends AsyncFunction>(module: string, name: string, options: ChildOptions): Called {
  const { env, logFile, signal } = options;
  const logging = { logFile, truncate: true, ipc: true, serialization: CALL_SERIALIZATION } as const;
  const child = spawnLogged(process.execPath, [MAIN, module, name], { cwd: PROJECT, env, ...logging });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  const ended = new Promise<null>((resolve) =>
    child.once('exit', () => resolve(null)).once('error', () => resolve(null)),
  );
  const response = outcomeOf(child);
  const call = async (...args: unknown[]): Promise<unknown> => {
    child.send(args, () => undefined);
    const outcome = await Promise.race([response, ended]);
    await ended;
    signal.removeEventListener('abort', kill);
    if (outcome === null) throw new StackError(`${name} did not finish:\n${tailOf(logFile)}`);
    return resultOf(outcome);
  };
  return call as unknown as Called;
}

/** A function that the first process of a service runs before it starts to serve: it needs most of that code. */
export interface Preparation {
  /** The arguments of Node for a process with these, as long as the function has not returned. */
  command(main: readonly string[]): readonly string[];
  /** Calls the function in a process started so. */
  runIn(child: ChildProcess): void;
}

/**
 * As {@link loadInChild}, in the process of a service. When one ends before the function has returned, the next runs it
 * again, so it has to be idempotent. @returns what the service is started with, and the function to call once
 */
export function prepareInService<Called extends AsyncFunction>(module: string, name: string) {
  const called = Promise.withResolvers<unknown[]>();
  const returned = Promise.withResolvers<Outcome>();
  let isDone = false;
  const preparation: Preparation = {
    command: (main) => (isDone ? main : withCall(main, [MAIN, module, name])),
    runIn(child) {
      if (isDone) return;
      void called.promise.then((args) => child.send(args, () => undefined));
      void outcomeOf(child).then((outcome) => {
        isDone = true;
        returned.resolve(outcome);
      });
    },
  };
  const call = async (...args: unknown[]): Promise<unknown> => {
    called.resolve(args);
    return resultOf(await returned.promise);
  };
  return { preparation, call: call as unknown as Called };
}

/** Puts `call` between the options of Node and the main module. */
function withCall(main: readonly string[], call: readonly string[]): string[] {
  const position = main.findIndex((argument) => !argument.startsWith('-'));
  return [...main.slice(0, position), ...call, ...main.slice(position)];
}

/** The message with which a child returns. A service may send others before. */
function outcomeOf(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve) =>
    child.on('message', (message: object) => {
      if ('result' in message || 'error' in message) resolve(message as Outcome);
    }),
  );
}

function resultOf(outcome: Outcome): unknown {
  if ('result' in outcome) return outcome.result;
  const { isStackError, message, stack } = outcome.error;
  throw isStackError ? new StackError(message) : Object.assign(new Error(message), { stack });
}
