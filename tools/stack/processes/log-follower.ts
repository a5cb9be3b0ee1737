import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync } from 'node:fs';

const POLL_MS = 500;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_LINES_PER_POLL = 5;
const PINO_ERROR = 50;

/**
 * Shows the errors that processes write to their log files, and keeps the files from growing without bound.
 *
 * @param show - called with the name and a one-line text
 * @returns what ends it
 */
export function followLogs(files: ReadonlyMap<string, string>, show: (name: string, text: string) => void): () => void {
  const followers = [...files].map(([name, file]) => follow(name, file, show));
  const look = (): void => {
    for (const follower of followers) ignoreErrors(follower);
  };
  const timer = setInterval(look, POLL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    look();
  };
}

function follow(name: string, file: string, show: (name: string, text: string) => void): () => void {
  let offset = sizeOf(file);
  let rest = '';
  return () => {
    const size = sizeOf(file);
    if (size < offset) offset = 0;
    if (size === offset) return;
    const text = rest + read(file, offset, size);
    offset = size;
    const lines = text.split('\n');
    rest = (lines.pop() ?? '').slice(-10_000);
    const errors = lines.map(describeError).filter((line) => line !== null);
    for (const line of errors.slice(0, MAX_LINES_PER_POLL)) show(name, line);
    if (errors.length > MAX_LINES_PER_POLL) show(name, `${errors.length - MAX_LINES_PER_POLL} more errors in ${file}`);
    if (size > MAX_BYTES) {
      // Without room for them the older lines are lost. The writers append, so they go on at the new end.
      ignoreErrors(() => copyFileSync(file, `${file}.1`));
      truncateSync(file);
      offset = 0;
    }
  };
}

/** The message of a line of our logger at level error or above; null for anything else. */
export function describeError(line: string): string | null {
  if (!line.startsWith('{')) return null;
  try {
    const entry = JSON.parse(line) as { level?: unknown; msg?: unknown; err?: { message?: unknown } };
    if (typeof entry.level !== 'number' || entry.level < PINO_ERROR) return null;
    return [entry.msg, entry.err?.message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  } catch {
    return null;
  }
}

/** What a log says last about a failure, indented, for a message: its errors, else its last lines. */
export function tailOf(file: string, lines = 4): string {
  try {
    const text = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-60);
    const errors = text.map((line) => describeError(line) ?? (/^\w*Error\b.*:|FATAL|PANIC/.test(line) ? line : null));
    const telling = errors.filter((line) => line !== null);
    const shown = (telling.length > 0 ? telling : text).slice(-lines);
    return [...shown.map((line) => `    ${line.slice(0, 400)}`), `  (log: ${file})`].join('\n');
  } catch {
    return `  (no log at ${file})`;
  }
}

/** What a disk refuses a log is no reason to end anything; the next look tries again. */
function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {}
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function read(file: string, from: number, to: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const length = Math.min(to, fstatSync(descriptor).size) - from;
    if (length <= 0) return '';
    const buffer = Buffer.alloc(length);
    const got = readSync(descriptor, buffer, 0, length, from);
    return buffer.toString('utf8', 0, got);
  } finally {
    closeSync(descriptor);
  }
}
