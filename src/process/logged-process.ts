import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface LoggedProcessOptions extends Omit<SpawnOptions, 'stdio' | 'detached'> {
  /** Takes both outputs; readable by its owner alone. */
  logFile: string;
  /** Begin the log file anew instead of adding to it. */
  truncate?: boolean;
  /** With a channel for messages to and from a Node process. */
  ipc?: boolean;
}

/**
 * Starts a program in a process group of its own, with its output in a log file.
 *
 * @remarks Returns at once: whoever waits for something before listening to the child's events misses the end of one
 * that ends quickly.
 */
export function spawnLogged(program: string, args: readonly string[], options: LoggedProcessOptions): ChildProcess {
  const { logFile, truncate = false, ipc = false, ...rest } = options;
  const log = openSync(logFile, truncate ? 'w' : 'a', 0o600);
  try {
    return spawn(program, args, {
      ...rest,
      detached: true,
      stdio: ipc ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}
