import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, readSync, statSync, truncateSync } from 'node:fs';

const POLL_MS = 2_000;
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_LINES_PER_POLL = 5;
const PINO_ERROR = 50;

/**
 * Shows errors from the log files of processes, and rotates files that have grown too large.
 * @param show - called with the name and a one-line text
 * @returns a function that stops it
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
      // On a full disk the older lines are lost. The writers append, so they continue at the new end.
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

const TAIL_LINES = 4;

/** The last errors of a log, else its last lines, indented for a message. */
export function tailOf(file: string): string {
  try {
    const text = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-60);
    const errors = text.map((line) => describeError(line) ?? (/^\w*Error\b.*:|FATAL|PANIC/.test(line) ? line : null));
    const found = errors.filter((line) => line !== null);
    const shown = (found.length > 0 ? found : text).slice(-TAIL_LINES);
    return [...shown.map((line) => `    ${line.slice(0, 400)}`), `  (log: ${file})`].join('\n');
  } catch {
    return `  (no log at ${file})`;
  }
}

/** A log that cannot be read or rotated must not stop anything; the next poll tries again. */
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
