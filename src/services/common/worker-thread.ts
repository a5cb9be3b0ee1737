import { type TransferListItem, Worker } from 'node:worker_threads';
import { DomainError } from '../../domain/common/errors.ts';

/** A second on an idle machine; long enough for a loaded one. */
const START_TIMEOUT_MS = 60_000;
/** Terminates a thread without processor time after this multiple of its limit in wall-clock time. */
const MAX_TIME_CHECKS = 20;
/** Share of the limit that counts as all of it: some processor time is overhead. */
const CPU_TOLERANCE = 0.8;

export interface WorkerThreadOptions {
  /** Module that posts `ready` and then responds to every message with one message. */
  module: URL;
  memoryMb: number;
  /** Processor time per response, without the start of the thread. */
  limitMs: number;
  /** Completes "the thread that ..." in errors. */
  purpose: string;
}

/** Runs work that may never end or would block the event loop in a thread, one request at a time. */
export interface WorkerThread<Request, Response> {
  /**
   * Sends a request to the thread, which is started if necessary.
   * @returns null when the response took too long; the thread has been terminated then
   * @throws {DomainError} ServiceUnavailable when the thread did not start in time; any error of the thread
   */
  request(request: Request, transfer?: readonly TransferListItem[]): Promise<Response | null>;
}

/** The thread starts with the first request and does not keep the process alive. */
export function createWorkerThread<Request, Response>(options: WorkerThreadOptions): WorkerThread<Request, Response> {
  let thread: Promise<Worker> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const start = (): Promise<Worker> => {
    const started: Promise<Worker> = startThread(options, () => {
      if (thread === started) thread = null;
    });
    started.catch(() => {
      if (thread === started) thread = null;
    });
    return started;
  };
  const run = async (request: Request, transfer: readonly TransferListItem[]): Promise<Response | null> => {
    thread ??= start();
    const worker = await thread;
    worker.ref();
    const isOver = await createTimeCheck(worker, options.limitMs);
    const response = nextMessage(worker, options.limitMs, options.purpose, isOver);
    worker.postMessage(request, transfer);
    try {
      return (await response) as Response | null;
    } finally {
      worker.unref();
    }
  };
  return {
    async request(request, transfer = []) {
      const result = last.then(() => run(request, transfer));
      last = result.catch(() => undefined);
      return await result;
    },
  };
}

/** @param onEnd - called when the thread cannot be used any more */
async function startThread({ module, memoryMb, purpose }: WorkerThreadOptions, onEnd: () => void): Promise<Worker> {
  const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  const ready = await nextMessage(worker, START_TIMEOUT_MS, purpose);
  worker.unref();
  if (ready === null) {
    throw new DomainError('ServiceUnavailable', `The thread that ${purpose} did not start in time; try again`, {
      retryAfterSeconds: 5,
    });
  }
  return worker;
}

/** Creates a check, to be called every `limitMs`, of whether the thread used or awaited too much processor time. */
async function createTimeCheck(worker: Worker, limitMs: number): Promise<() => Promise<boolean>> {
  const before = await worker.cpuUsage();
  let checks = 0;
  return async () => {
    checks += 1;
    const used = await worker.cpuUsage(before).catch(() => null);
    return used === null || checks >= MAX_TIME_CHECKS || (used.user + used.system) / 1000 >= limitMs * CPU_TOLERANCE;
  };
}

/**
 * @param isOver - called every `limitMs`; default: the first call ends the wait
 * @returns null when it is over; the thread has been terminated then
 * @throws when the thread fails
 */
async function nextMessage(
  worker: Worker,
  limitMs: number,
  purpose: string,
  isOver = async () => true,
): Promise<unknown> {
  return await new Promise<unknown>((resolve, reject) => {
    let isSettled = false;
    const settle = (end: () => void): void => {
      isSettled = true;
      clearTimeout(timer);
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      end();
    };
    const onMessage = (message: unknown) => settle(() => resolve(message));
    const onError = (error: unknown) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error(`the thread that ${purpose} ended`)));
    const check = async (): Promise<void> => {
      const over = await isOver();
      if (isSettled) return;
      if (!over) {
        timer = setTimeout(check, limitMs);
        return;
      }
      worker.off('exit', onExit);
      await worker.terminate();
      settle(() => resolve(null));
    };
    let timer = setTimeout(check, limitMs);
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
  });
}
