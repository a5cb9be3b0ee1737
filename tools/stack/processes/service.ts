import { setTimeout as sleep } from 'node:timers/promises';
import { asStackError, StackError } from '../stack-error.ts';

/** A process of the stack that serves now. */
export interface Running {
  /** Resolves with a short reason when the process has ended. */
  exited: Promise<string>;
  /** Stops the process; kills it after the limit. */
  stop(limitMs: number): Promise<void>;
}

export interface ServiceOptions {
  name: string;
  /** Resolves when the process serves; an abort stops it. */
  start(signal: AbortSignal): Promise<Running>;
  /** The end of its log, for the message when it keeps failing. */
  logTail(): string;
  /** Whether a failed first start is final: it is more likely a wrong set-up than a passing problem. */
  failFast?: boolean;
  report(message: string): void;
  policy?: RestartPolicy;
}

/** A part of the stack that is restarted whenever it ends, until it keeps failing. */
export interface Service {
  readonly name: string;
  /** Starts it. Resolves when it serves. @throws {StackError} when it finally fails before it ever served */
  start(): Promise<void>;
  /** Rejects when it keeps failing; never resolves. */
  readonly failed: Promise<never>;
  /** Stops it permanently. Idempotent, at any moment. */
  stop(limitMs: number): Promise<void>;
}

/** See {@link Service}. */
export function createService(options: ServiceOptions): Service {
  const policy = options.policy ?? createRestartPolicy();
  const stopping = new AbortController();
  const served = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  served.promise.catch(() => undefined);
  failed.promise.catch(() => undefined);
  let running: Running | null = null;
  let hasServed = false;
  let stopLimitMs = 0;
  let loop: Promise<void> | null = null;

  const giveUp = (error: StackError): void => {
    served.reject(error);
    failed.reject(error);
  };

  /** One run of the process: resolves to the reason of its end. */
  async function live(): Promise<string> {
    running = await options.start(stopping.signal);
    if (stopping.signal.aborted) await running.stop(stopLimitMs);
    hasServed = true;
    served.resolve();
    const reason = await running.exited;
    running = null;
    return reason;
  }

  async function keepRunning(): Promise<void> {
    while (!stopping.signal.aborted) {
      let reason: string;
      try {
        reason = await live();
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
        if (!stopping.signal.aborted && options.failFast && !hasServed) return giveUp(asStackError(error));
      }
      if (stopping.signal.aborted) return;
      const verdict = policy.onDeath(performance.now());
      if (!verdict.restart) {
        const words = options.logTail();
        return giveUp(
          new StackError(`${options.name} ended ${verdict.deaths} times within a minute, last: ${reason}\n${words}`),
        );
      }
      options.report(`${options.name} ended (${reason}); starting it again`);
      await sleep(verdict.afterMs, null, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    name: options.name,
    failed: failed.promise,
    start() {
      loop ??= keepRunning();
      return served.promise;
    },
    async stop(limitMs) {
      stopLimitMs = limitMs;
      stopping.abort();
      served.reject(new StackError(`${options.name} was stopped`));
      await running?.stop(limitMs);
      await loop;
    },
  };
}

/** What to do about a service that ended: start it again after a pause, or give up. */
export type Verdict = { restart: true; afterMs: number } | { restart: false; deaths: number };

export interface RestartPolicy {
  /** @param nowMs - a clock that only runs forward */
  onDeath(nowMs: number): Verdict;
}

export const RESTART = { firstPauseMs: 250, maxPauseMs: 8000, windowMs: 60_000, maxDeaths: 6 } as const;

/**
 * Pauses double with each end within the last minute; after the sixth there is no restart, because the cause is
 * probably permanent.
 */
export function createRestartPolicy(limits: typeof RESTART = RESTART): RestartPolicy {
  let deaths: number[] = [];
  return {
    onDeath(nowMs) {
      deaths = [...deaths.filter((at) => nowMs - at < limits.windowMs), nowMs];
      if (deaths.length >= limits.maxDeaths) return { restart: false, deaths: deaths.length };
      return { restart: true, afterMs: Math.min(limits.firstPauseMs * 2 ** (deaths.length - 1), limits.maxPauseMs) };
    },
  };
}
