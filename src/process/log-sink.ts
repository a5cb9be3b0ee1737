import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** Takes lines of the log and never stands in the way of the process: what cannot be written in time is dropped, counted. */
export interface LogSink {
  write(line: string): void;
  /** Lines that were dropped since the process began. */
  dropped(): number;
}

/** Lines that wait while the other side does not read, in bytes. */
const MAX_WAITING_BYTES = 1024 * 1024;
const RETRY_MS = 100;

export interface LogSinkOptions {
  maxWaitingBytes?: number;
  retryMs?: number;
}

/**
 * Writes to a file descriptor that somebody else owns: a file whose disk may be full, a pipe whose reader may hang or be
 * gone.
 *
 * @remarks A pipe is opened anew without blocking; where that is not possible (a socket), one thread of the pool writes and
 * may wait for ever, not the process. Lines reach files and pipes at once while these take them.
 * @see docs/reliability.md#the-log-cannot-be-written-mail-or-pam-hangs
 */
export function createLogSink(fd: number, options: LogSinkOptions = {}): LogSink {
  const queue = new Waiting(options.maxWaitingBytes ?? MAX_WAITING_BYTES);
  const flush = mustNotBlock(fd)
    ? inThread(fd, queue)
    : atOnce(withoutBlocking(fd), queue, options.retryMs ?? RETRY_MS);
  return {
    write(line) {
      if (queue.add(line)) flush();
    },
    dropped: () => queue.dropped,
  };
}

/** Lines in their order, up to a number of bytes. */
class Waiting {
  dropped = 0;
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #told = 0;

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

  /** The bytes to write next; after a gap they begin by telling of it. */
  next(): Buffer | null {
    if (this.#chunks.length === 0) return null;
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }

  /** @returns whether all is written now */
  took(count: number): boolean {
    const [first] = this.#chunks;
    const left = first!.subarray(count);
    this.#bytes -= count;
    this.#chunks = left.length === 0 ? this.#chunks.slice(1) : [left, ...this.#chunks.slice(1)];
    if (this.#chunks.length > 0) return false;
    this.#tellOfGap();
    return this.#chunks.length === 0;
  }

  /** The other side takes nothing, and will not take this. */
  drop(): void {
    for (const chunk of this.#chunks) this.dropped += countLines(chunk);
    this.#chunks = [];
    this.#bytes = 0;
  }

  #tellOfGap(): void {
    if (this.dropped === this.#told) return;
    const lost = this.dropped - this.#told;
    this.#told = this.dropped;
    const time = new Date().toISOString();
    this.add(`${JSON.stringify({ level: 40, time, pid: process.pid, lost, msg: 'lines of the log were dropped' })}\n`);
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 0x0a) lines += 1;
  return Math.max(lines, 1);
}

function atOnce(fd: number, queue: Waiting, retryMs: number): () => void {
  let retry: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (retry !== null) return;
    for (let bytes = queue.next(); bytes !== null; bytes = queue.next()) {
      try {
        queue.took(writeSync(fd, bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
          queue.drop();
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

function inThread(fd: number, queue: Waiting): () => void {
  let isWriting = false;
  const flush = (): void => {
    const bytes = isWriting ? null : queue.next();
    if (bytes === null) return;
    isWriting = true;
    write(fd, bytes, (error, count) => {
      isWriting = false;
      if (error) queue.drop();
      else queue.took(count);
      flush();
    });
  };
  return flush;
}

/** Neither a file nor a pipe nor a terminal: it cannot be opened anew, and a write may wait for its reader. */
function mustNotBlock(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

/** Another description of the same pipe that never waits: the one given is shared with whoever started us. */
function withoutBlocking(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd;
  }
}
