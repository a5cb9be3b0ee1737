import type { BObject } from '../../../src/protocol/bpickle.ts';

export interface ScriptEnvironment {
  username: string;
  hostname: string;
  kernel: string;
  env: Readonly<Record<string, string>>;
  attachments: ReadonlyMap<string, string>;
}

export interface ScriptRun {
  output: string;
  exitCode: number;
  ms: number;
  timedOut: boolean;
}

const LONGEST_SLEEP_SECONDS = 24 * 3600;

/**
 * Runs the part of a shell script that has visible effects: `echo`, `printf`, `cat` of attachments, `sleep`, `exit`,
 * `true`, `false`, `whoami`, `hostname`, `uname -r`, environment variables. Every other command succeeds silently. Like
 * real shells, it treats a carriage return or a byte-order mark as part of a word.
 * @param program - name of the interpreter
 * @param limitMs - null for no limit
 */
export function runScript(
  program: string,
  code: string,
  environment: ScriptEnvironment,
  limitMs: number | null,
): ScriptRun {
  const run: ScriptRun = { output: '', exitCode: 0, ms: 0, timedOut: false };
  for (const command of commandsOf(SHELLS.has(program) ? code : code.replaceAll('\r\n', '\n'))) {
    const [name = '', ...words] = wordsOf(command, environment.env);
    const error = shellError(name, words);
    if (error !== null) {
      run.output += `${program}: ${error.text}\n`;
      run.exitCode = error.exitCode;
      if (name === 'exit') return run;
      continue;
    }
    if (name === 'exit' || name === 'sys.exit')
      return { ...run, exitCode: (words[0] ? Number(words[0]) : run.exitCode) & 255 };
    if (name === 'sleep') run.ms += Math.min(Number.parseFloat(words[0] ?? '0') || 0, LONGEST_SLEEP_SECONDS) * 1000;
    if (limitMs !== null && run.ms >= limitMs) return { ...run, ms: limitMs, timedOut: true, exitCode: 137 };
    const { output, exitCode } = perform(name, words, environment);
    run.output += output;
    run.exitCode = exitCode;
  }
  return run;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash']);

/** The error of a command with a Windows line ending; null for other commands. */
function shellError(name: string, words: readonly string[]): { text: string; exitCode: number } | null {
  if (/[\r\ufeff]/.test(name)) return { text: `${name}: not found`, exitCode: 127 };
  const [first = ''] = words;
  if (name === 'exit' && first.includes('\r')) return { text: `exit: Illegal number: ${first}`, exitCode: 2 };
  if (name === 'sleep' && first.includes('\r')) return { text: `sleep: invalid time interval '${first}'`, exitCode: 1 };
  return null;
}

function commandsOf(code: string): string[] {
  return code
    .split(/\n|;|&&/)
    .map((command) => command.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((command) => command !== '' && !command.startsWith('#'));
}

/** Splits into words; removes quotes, `print("...")` and redirections; expands variables. */
function wordsOf(command: string, env: Readonly<Record<string, string>>): string[] {
  const call = /^(print|sys\.exit|exit)\((.*)\)$/.exec(command);
  const text = call ? `${call[1] === 'print' ? 'echo' : 'exit'} ${call[2]}` : command;
  const words = text.match(/'[^']*'|"[^"]*"|[^ \t\n'"]+/g) ?? [];
  return words
    .filter((word) => !/^\d?>/.test(word))
    .map((word) => {
      if (word.startsWith("'")) return word.slice(1, -1);
      const plain = word.startsWith('"') ? word.slice(1, -1) : word;
      return plain.replace(/\$\{?(\w+)\}?/g, (_, name: string) => env[name] ?? '');
    });
}

function perform(
  name: string,
  words: readonly string[],
  environment: ScriptEnvironment,
): { output: string; exitCode: number } {
  if (name === 'echo' || name === 'printf') return { output: `${words.join(' ')}\n`, exitCode: 0 };
  if (name === 'false') return { output: '', exitCode: 1 };
  if (name === 'whoami' || (name === 'id' && words[0] === '-un'))
    return { output: `${environment.username}\n`, exitCode: 0 };
  if (name === 'hostname') return { output: `${environment.hostname}\n`, exitCode: 0 };
  if (name === 'uname') return { output: `${words[0] === '-r' ? environment.kernel : 'Linux'}\n`, exitCode: 0 };
  if (name === 'cat') return concatenate(words, environment.attachments);
  return { output: '', exitCode: 0 };
}

function concatenate(
  paths: readonly string[],
  files: ReadonlyMap<string, string>,
): { output: string; exitCode: number } {
  const texts = paths.map((path) => files.get(path.split('/').at(-1)!));
  const absent = paths.filter((_, position) => texts[position] === undefined);
  const errors = absent.map((path) => `cat: ${path}: No such file or directory\n`);
  return { output: texts.join('') + errors.join(''), exitCode: absent.length > 0 ? 1 : 0 };
}

/** Null if a value is not text, which makes the script fail. */
export function environmentOf(env: unknown): Record<string, string> | null {
  if (typeof env !== 'object' || env === null) return {};
  const entries = Object.entries(env as BObject);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')
    ? Object.fromEntries(entries)
    : null;
}
