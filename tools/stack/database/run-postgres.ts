import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { spawnLogged } from '../../temporal-server/logged-process.ts';
import type { RunAs } from '../processes/unprivileged.ts';
import { StackError } from '../stack-error.ts';

/** Starts a program of PostgreSQL, with nothing of this process's environment. @param input - whether its input is a pipe */
export function spawnAs(as: RunAs, command: readonly string[], logFile: string, input = false): ChildProcess {
  const [program = '', ...args] = [...as.prefix, ...command];
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const ids = as.uid === undefined ? {} : { uid: as.uid, gid: as.gid };
  const cwd = as.uid === undefined ? dirname(logFile) : '/';
  return spawnLogged(program, args, { logFile, env, cwd, input, ...ids });
}

/** An error with the relevant last lines of the log. */
export async function failure(what: string, logFile: string): Promise<StackError> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const lines = text.trimEnd().split('\n').slice(-20);
  const relevant = lines.filter((line) => /error|FATAL|PANIC|HINT|DETAIL|unrecognized|invalid|could not/i.test(line));
  const tail = (relevant.length > 0 ? relevant : lines).slice(-3).map((line) => line.replace(/^.*\[\d+\] /, '').trim());
  return new StackError(`${what}: ${tail.join('; ') || 'no output'} (log: ${logFile})`);
}
