import { StackError } from '../stack-error.ts';
import type { Service } from './service.ts';

/** Time that the services of a stage have to stop when earlier stages left none to spare. */
export interface StopShare {
  /** Name of the stage: of its only service, or a common one. */
  name: string;
  limitMs: number;
}

/** The services of one stack: started in any order, stopped in a fixed one. */
export interface ServiceGroup {
  /** Aborted when the stop starts. */
  readonly signal: AbortSignal;
  /**
   * Starts a service. Resolves when it serves.
   * @param stage - services of one stage are stopped together
   * @throws when the stop has started or the service keeps failing
   */
  launch(service: Service, stage?: string): Promise<void>;
  /** Rejects when one of them keeps failing; never resolves. */
  readonly failed: Promise<never>;
  /** Stops all, stage by stage. Idempotent. */
  stop(): Promise<void>;
}

/**
 * @param order - the stages in the order in which they are stopped
 * @param totalMs - limit for all; time that one stage does not need is left to the next
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
