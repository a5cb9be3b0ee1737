import { constants, fstatSync, openSync } from 'node:fs';
import sonicBoom from 'sonic-boom';

/** Accepts log lines and never blocks the process: lines that cannot be written in time are dropped and counted. */
export interface LogSink {
  write(line: string): void;
  dropped(): number;
}

const MAX_BUFFERED_BYTES = 1024 * 1024;
const RETRY_MS = 100;

interface LogSinkOptions {
  maxBufferedBytes?: number;
  retryMs?: number;
}

/** For files and pipes that may hang: a pipe is reopened as non-blocking; to a socket one thread of the pool writes. */
export function createLogSink(fd: number, options: LogSinkOptions = {}): LogSink {
  const stream = new sonicBoom.SonicBoom({
    fd: openNonBlocking(fd),
    sync: !isSocket(fd),
    maxLength: options.maxBufferedBytes ?? MAX_BUFFERED_BYTES,
    retryEAGAIN: () => false,
  });
  let dropped = 0;
  let reported = 0;
  let retry: NodeJS.Timeout | null = null;
  stream.on('drop', () => {
    dropped += 1;
  });
  stream.on('error', () => {
    retry ??= setTimeout(() => {
      retry = null;
      stream.write('');
    }, options.retryMs ?? RETRY_MS).unref();
  });
  stream.on('drain', () => {
    // Emitted late: a later write may have failed.
    if (retry !== null || dropped === reported) return;
    stream.write(droppedLine(dropped - reported));
    reported = dropped;
  });
  return { write: (line) => void stream.write(line), dropped: () => dropped };
}

function droppedLine(lost: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: 40, time, pid: process.pid, lost, msg: 'log lines were dropped' })}\n`;
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
