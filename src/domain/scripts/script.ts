import { SCRIPT_MESSAGE } from './environment.ts';
import { RESULT_GRACE_SECONDS, EXECUTE_SCRIPT } from './result.ts';

export type ScriptStatus = 'active' | 'archived' | 'redacted';

/** @see docs/api-conventions.md#limits-of-fields */
export const DEFAULT_USERNAME = 'root';
export const DEFAULT_TIME_LIMIT = 300;

/** @see docs/api-conventions.md#limits-of-fields */
export const MAX_ATTACHMENTS = 5;
export const MAX_ATTACHMENT_BYTES = 1_000_000;

const MARK = '#!';
const MAX_INTERPRETER_LENGTH = 1001;

export type ScriptBody = {
  /** Path with optional arguments, without `#!`. */
  interpreter: string;
  code: string;
};

const BYTE_ORDER_MARK = '\ufeff';

/** @returns null unless the first line, after a byte-order mark, is `#!` and an absolute path of an interpreter */
export function parseScript(given: string): ScriptBody | null {
  const text = given.startsWith(BYTE_ORDER_MARK) ? given.slice(1) : given;
  if (!text.startsWith(MARK)) return null;
  const newline = text.indexOf('\n');
  const line = newline < 0 ? text : text.slice(0, newline);
  const interpreter = withoutBlanks(line.slice(MARK.length, line.endsWith('\r') ? -1 : undefined));
  if (!interpreter.startsWith('/') || interpreter.length > MAX_INTERPRETER_LENGTH) return null;
  if (/\p{Cc}/u.test(interpreter.replaceAll('\t', ' '))) return null;
  return { interpreter, code: newline < 0 ? '' : text.slice(newline + 1) };
}

/** The code as sent: with LF line ends, because interpreters treat CR as part of a command, except on Windows. */
export function executableCode({ interpreter, code }: ScriptBody): string {
  const isWindows = interpreter.split(/[ \t]+/).some((word) => /\.(exe|cmd|bat)$/i.test(word));
  return isWindows || !code.includes('\r') ? code : code.replaceAll('\r\n', '\n');
}

// Not a regular expression, which would retry at each blank of a line of up to a million.
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** A login name in the portable character set. @see docs/api-conventions.md#limits-of-fields */
export function isUsername(text: string): boolean {
  return /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,31}$/.test(text);
}

/** Whether a file in a script's attachment folder can have this name: Linux counts bytes. */
export function isAttachmentName(text: string): boolean {
  const isName = /^[^/\\\p{Cc}]{1,255}$/u.test(text) && new TextEncoder().encode(text).length <= 255;
  return isName && !['.', '..', '__proto__'].includes(text);
}

export type RunnableScript = ScriptBody & {
  id: number;
  version: number;
  title: string;
  attachments: ReadonlyArray<{ id: number; filename: string }>;
};

interface ScriptRunOptions {
  username: string;
  timeLimit: number;
  env: Readonly<Record<string, string>>;
}

/** Summary of a run and of each of its operations. @see docs/api-conventions.md#types-and-summaries */
export function runSummary(script: { title: string }): string {
  return `Run script: ${script.title}`;
}

/** Runs a script on one computer; fails without a report in time. @see docs/agent-protocol.md#scripts */
export function scriptOperation(script: RunnableScript, { username, timeLimit, env }: ScriptRunOptions) {
  return {
    type: EXECUTE_SCRIPT,
    summary: runSummary(script),
    message: {
      type: SCRIPT_MESSAGE,
      fields: {
        username,
        interpreter: script.interpreter,
        code: script.code,
        'time-limit': timeLimit,
        attachments: Object.fromEntries(script.attachments.map(({ id, filename }) => [filename, id])),
        env,
      },
      answerSeconds: timeLimit + RESULT_GRACE_SECONDS,
      scriptId: script.id,
    },
  };
}
