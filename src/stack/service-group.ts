import type { Service } from './service.ts';
import { StackError } from './stack-error.ts';

/** What a service may take to end when the ones before it left no time over. */
export interface StopShare {
  name: string;
  limitMs: number;
}

/** The services of one stack: started in any order, ended in a fixed one. */
export interface ServiceGroup {
  /** Aborted when the stop begins. */
  readonly signal: AbortSignal;
  /** Starts a service. Resolves when it serves. @throws when the stop has begun or the service is given up */
  launch(service: Service): Promise<void>;
  /** Rejects when one of them is given up; never resolves. */
  readonly failed: Promise<never>;
  /** Ends all, one after the other. Idempotent. */
  stop(): Promise<void>;
}

/**
 * @param order - names of the services in the order in which they end
 * @param totalMs - all are over within this; what one does not need is left to the next
 */
export function createServiceGroup(order: readonly StopShare[], totalMs: number): ServiceGroup {
  const stopping = new AbortController();
  const services = new Map<string, Service>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let stopped: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    stopping.abort(new StackError('the stack was stopped'));
    const end = performance.now() + totalMs;
    for (const [index, { name }] of order.entries()) {
      const later = order.slice(index + 1).filter((share) => services.has(share.name));
      const reservedMs = later.reduce((sum, share) => sum + share.limitMs, 0);
      await services.get(name)?.stop(Math.max(end - performance.now() - reservedMs, MIN_STOP_MS));
    }
  }

  return {
    signal: stopping.signal,
    failed: failed.promise,
    async launch(service) {
      stopping.signal.throwIfAborted();
      services.set(service.name, service);
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
