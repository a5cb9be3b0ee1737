import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface LoggedProcessOptions extends Omit<SpawnOptions, 'stdio' | 'detached'> {
  /** Receives stdout and stderr; readable by its owner alone. */
  logFile: string;
  truncate?: boolean;
  ipc?: boolean;
  /** Gives it a pipe as input. */
  input?: boolean;
}

/**
 * Starts a program in its own process group, with its output in a log file.
 * @remarks Add listeners to the child before awaiting anything, or the exit of a short-lived one is missed.
 */
export function spawnLogged(program: string, args: readonly string[], options: LoggedProcessOptions): ChildProcess {
  const { logFile, truncate = false, ipc = false, input = false, ...rest } = options;
  const log = openSync(logFile, truncate ? 'w' : 'a', 0o600);
  try {
    return spawn(program, args, {
      ...rest,
      detached: true,
      stdio: [input ? 'pipe' : 'ignore', log, log, ...(ipc ? (['ipc'] as const) : [])],
    });
  } finally {
    closeSync(log);
  }
}
