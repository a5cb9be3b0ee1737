import { spawn as spawnOnTerminal } from '@lydell/node-pty';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { inheritedEnvironment } from '../../../tools/harness/stack-programs.ts';
import type { Ended } from './in-process.ts';

const PROGRAM = resolve('packages/cli/bin/flotilla.mjs');
const LIMIT_MS = 60_000;

export type Environment = Readonly<Record<string, string>>;

/** Runs the program as a process, with pipes. */
export async function runProgram(args: readonly string[], env: Environment, input = ''): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...inheritedEnvironment(), ...env } });
  const exited = new Promise<number>((settle) => child.once('close', (code) => settle(code ?? -1)));
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

/** The program on a terminal that a test types on. */
export interface OnTerminal {
  /** Everything that the terminal has got so far, with escape sequences. */
  screen(): string;
  /** Resolves once the terminal has got the text. @throws with all that it got, after a minute */
  shows(expected: string | RegExp): Promise<void>;
  type(text: string): void;
  /** The exit code. */
  exited: Promise<number>;
}

export const CTRL_C = '\u0003';

/** Starts the program on a pseudo-terminal. */
export function startOnTerminal(args: readonly string[], env: Environment, columns = 100): OnTerminal {
  const terminal = spawnOnTerminal(process.execPath, [PROGRAM, ...args], {
    cols: columns,
    rows: 30,
    env: { ...inheritedEnvironment(), TERM: 'xterm-256color', ...env },
  });
  let screen = '';
  let wake: () => void = () => undefined;
  terminal.onData((data) => {
    screen += data;
    wake();
  });
  const exited = new Promise<number>((settle) => terminal.onExit(({ exitCode }) => settle(exitCode)));
  const matches = (expected: string | RegExp) =>
    typeof expected === 'string' ? screen.includes(expected) : expected.test(screen);
  return {
    screen: () => screen,
    exited,
    type: (typed) => terminal.write(typed),
    async shows(expected) {
      const limit = AbortSignal.timeout(LIMIT_MS);
      while (!matches(expected)) {
        const data = new Promise<void>((settle) => {
          wake = settle;
          limit.onabort = () => settle();
        });
        await Promise.race([data, exited]);
        if (limit.aborted) throw new Error(`the terminal does not show ${expected}:\n${screen}`);
      }
    },
  };
}
