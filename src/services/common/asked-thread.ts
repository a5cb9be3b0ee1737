import { type TransferListItem, Worker } from 'node:worker_threads';
import { DomainError } from '../../domain/common/errors.ts';

/** A second on a quiet machine; a loaded one must not fail for it. */
const START_LIMIT_MS = 60_000;
/** A thread that the machine has no time for gets so many times its limit of the clock. */
const PATIENCE = 20;

export interface ThreadOptions {
  /** Module that posts `ready` and then answers every message with one. */
  module: URL;
  /** Memory that it may use before it is ended. */
  memoryMb: number;
  /** Processor time for one answer, without the start of the thread. */
  limitMs: number;
  /** Completes "the thread that ..." in errors. */
  purpose: string;
}

/** A thread that is asked one thing at a time; work that may never end, or would hold up everything else. */
export interface AskedThread<Request, Reply> {
  /**
   * Asks the thread, and starts it when it is not there.
   *
   * @returns null when the answer took too long; the thread has been ended then
   * @throws {DomainError} ServiceUnavailable when the thread did not start in time
   * @throws when the thread fails
   */
  ask(request: Request, transfer?: readonly TransferListItem[]): Promise<Reply | null>;
}

/** Makes one; it starts with the first request and keeps no process alive. Requests take turns. */
export function createAskedThread<Request, Reply>(options: ThreadOptions): AskedThread<Request, Reply> {
  let thread: Promise<Worker> | null = null;
  let turn: Promise<unknown> = Promise.resolve();
  const start = (): Promise<Worker> => {
    const started: Promise<Worker> = startThread(options, () => {
      if (thread === started) thread = null;
    });
    started.catch(() => {
      if (thread === started) thread = null;
    });
    return started;
  };
  const run = async (request: Request, transfer: readonly TransferListItem[]): Promise<Reply | null> => {
    thread ??= start();
    const worker = await thread;
    worker.ref();
    const answer = nextMessage(worker, options.limitMs, options.purpose, await watchTime(worker, options.limitMs));
    worker.postMessage(request, transfer);
    try {
      return (await answer) as Reply | null;
    } finally {
      worker.unref();
    }
  };
  return {
    async ask(request, transfer = []) {
      const result = turn.then(() => run(request, transfer));
      turn = result.catch(() => undefined);
      return await result;
    },
  };
}

/** @param onEnd - called once the thread cannot be used any more */
async function startThread({ module, memoryMb, purpose }: ThreadOptions, onEnd: () => void): Promise<Worker> {
  const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  worker.on('error', onEnd);
  worker.on('exit', onEnd);
  const ready = await nextMessage(worker, START_LIMIT_MS, purpose);
  worker.unref();
  if (ready === null) {
    throw new DomainError('ServiceUnavailable', `The thread that ${purpose} did not start in time; try again`, {
      retryAfterSeconds: 5,
    });
  }
  return worker;
}

/** Tells, when `limitMs` have passed once more, whether the thread has had as much of the processor, or waited too long. */
async function watchTime(worker: Worker, limitMs: number): Promise<() => Promise<boolean>> {
  const before = await worker.cpuUsage();
  let asked = 0;
  return async () => {
    asked += 1;
    const used = await worker.cpuUsage(before).catch(() => null);
    return used === null || asked >= PATIENCE || (used.user + used.system) / 1000 >= limitMs * ALMOST;
  };
}

/** Of a limit: what a thread is busy with besides its work is not counted. */
const ALMOST = 0.8;

/**
 * @param isOver - asked each time `limitMs` have passed; by default they pass once
 * @returns null when it is over; the thread has been ended then
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
    const look = async (): Promise<void> => {
      const over = await isOver();
      if (isSettled) return;
      if (!over) {
        timer = setTimeout(look, limitMs);
        return;
      }
      worker.off('exit', onExit);
      await worker.terminate();
      settle(() => resolve(null));
    };
    let timer = setTimeout(look, limitMs);
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
  });
}
