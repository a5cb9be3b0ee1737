import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** Accepts log lines and never blocks the process: lines that cannot be written in time are dropped and counted. */
export interface LogSink {
  write(line: string): void;
  /** Lines dropped since the process started. */
  dropped(): number;
}

const MAX_BUFFERED_BYTES = 1024 * 1024;
const RETRY_MS = 100;

export interface LogSinkOptions {
  maxBufferedBytes?: number;
  retryMs?: number;
}

/**
 * Writes to an unreliable file descriptor: a file on a full disk, or a pipe whose reader hangs or has exited.
 * @remarks A pipe is reopened as non-blocking. A socket cannot be reopened: one thread of the pool writes to it, so
 * that a hanging reader blocks only that thread. Files and pipes are written to at once while they accept data.
 * @see docs/reliability.md#the-log-cannot-be-written-mail-or-pam-hangs
 */
export function createLogSink(fd: number, options: LogSinkOptions = {}): LogSink {
  const queue = new LineBuffer(options.maxBufferedBytes ?? MAX_BUFFERED_BYTES);
  const flush = isSocket(fd)
    ? threadPoolWriter(fd, queue)
    : synchronousWriter(openNonBlocking(fd), queue, options.retryMs ?? RETRY_MS);
  return {
    write(line) {
      if (queue.add(line)) flush();
    },
    dropped: () => queue.dropped,
  };
}

class LineBuffer {
  dropped = 0;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #reportedDropped = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false when it was dropped */
  add(line: string): boolean {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > this.#maxBytes) {
      this.dropped += 1;
      return false;
    }
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    return true;
  }

  next(): Buffer | null {
    if (this.#chunks.length === 0) return null;
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }

  markWritten(count: number): void {
    const [first] = this.#chunks;
    const left = first!.subarray(count);
    this.#bytes -= count;
    this.#chunks = left.length === 0 ? this.#chunks.slice(1) : [left, ...this.#chunks.slice(1)];
    if (this.#chunks.length === 0) this.#reportDropped();
  }

  dropAll(): void {
    for (const chunk of this.#chunks) this.dropped += countLines(chunk);
    this.#chunks = [];
    this.#bytes = 0;
  }

  #reportDropped(): void {
    if (this.dropped === this.#reportedDropped) return;
    const lost = this.dropped - this.#reportedDropped;
    this.#reportedDropped = this.dropped;
    const time = new Date().toISOString();
    this.add(`${JSON.stringify({ level: 40, time, pid: process.pid, lost, msg: 'log lines were dropped' })}\n`);
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 0x0a) lines += 1;
  return Math.max(lines, 1);
}

function synchronousWriter(fd: number, queue: LineBuffer, retryMs: number): () => void {
  let retry: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (retry !== null) return;
    for (let bytes = queue.next(); bytes !== null; bytes = queue.next()) {
      try {
        queue.markWritten(writeSync(fd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          queue.dropAll();
          return;
        }
        retry = setTimeout(() => {
          retry = null;
          flush();
        }, retryMs).unref();
        return;
      }
    }
  };
  return flush;
}

function threadPoolWriter(fd: number, queue: LineBuffer): () => void {
  let isWriting = false;
  const flush = (): void => {
    const bytes = isWriting ? null : queue.next();
    if (bytes === null) return;
    isWriting = true;
    write(fd, bytes, (error, count) => {
      isWriting = false;
      if (error) queue.dropAll();
      else queue.markWritten(count);
      flush();
    });
  };
  return flush;
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

/** A new file description, because the given one is shared with the parent process and must stay blocking. */
function openNonBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}
