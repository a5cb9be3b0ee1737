import { StackError } from '../stack-error.ts';
import type { Service } from './service.ts';

/** What the services of a stage may take to end when the ones before left no time over. */
export interface StopShare {
  /** Of the stage: that of its only service, or one that several were launched under. */
  name: string;
  limitMs: number;
}

/** The services of one stack: started in any order, ended in a fixed one. */
export interface ServiceGroup {
  /** Aborted when the stop begins. */
  readonly signal: AbortSignal;
  /**
   * Starts a service. Resolves when it serves.
   *
   * @param stage - when it ends: all services of a stage end at the same time
   * @throws when the stop has begun or the service is given up
   */
  launch(service: Service, stage?: string): Promise<void>;
  /** Rejects when one of them is given up; never resolves. */
  readonly failed: Promise<never>;
  /** Ends all, one stage after the other. Idempotent. */
  stop(): Promise<void>;
}

/**
 * @param order - the stages in the order in which they end
 * @param totalMs - all are over within this; what one does not need is left to the next
 */
export function createServiceGroup(order: readonly StopShare[], totalMs: number): ServiceGroup {
  const stopping = new AbortController();
  const stages = new Map<string, Service[]>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let stopped: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    stopping.abort(new StackError('the stack was stopped'));
    const end = performance.now() + totalMs;
    for (const [index, { name }] of order.entries()) {
      const later = order.slice(index + 1).filter((share) => stages.has(share.name));
      const reservedMs = later.reduce((sum, share) => sum + share.limitMs, 0);
      const limitMs = Math.max(end - performance.now() - reservedMs, MIN_STOP_MS);
      await Promise.all((stages.get(name) ?? []).map((service) => service.stop(limitMs)));
    }
  }

  return {
    signal: stopping.signal,
    failed: failed.promise,
    async launch(service, stage = service.name) {
      stopping.signal.throwIfAborted();
      stages.set(stage, [...(stages.get(stage) ?? []), service]);
      service.failed.catch(failed.reject);
      await service.start();
    },
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
}

const MIN_STOP_MS = 200;
