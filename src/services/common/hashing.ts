import { availableParallelism } from 'node:os';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../../process/admission/concurrency-limiter.ts';
import { serviceBusy } from '../../domain/common/errors.ts';
import { rateLimitKey } from '../../process/client-address.ts';

/** The client of a password hash: the person of its token, or else its address. */
export type HashingClient = { personId: number } | { address: string };

/** Hashes a few passwords at a time, round-robin by client, so that mass guesses by one client do not delay others. */
export interface Hashing {
  /** Runs an attempt that hashes. @throws {DomainError} ServiceUnavailable when too many wait, in all or per client */
  run<T>(client: HashingClient, work: () => Promise<T>): Promise<T>;
}

/** One core stays free: a hash costs 20 ms of a core and 19 MiB. */
const CONCURRENCY = Math.max(1, availableParallelism() - 1);

const LIMITS: ConcurrencyLimits = {
  concurrency: CONCURRENCY,
  // Slots become free quickly and rotate between clients, so none is reserved.
  concurrencyPerKey: CONCURRENCY,
  // A queued attempt costs hardly any memory; with more of them, clients would time out anyway.
  maxQueued: 256,
  // A whole office may share one address; less than two seconds of one core.
  maxQueuedPerKey: 64,
  queueTimeoutMs: 10_000,
};

/** All services of a process share one instance. @param limits - default: by the cores of the machine */
export function createHashing(limits: ConcurrencyLimits = LIMITS): Hashing {
  const limiter = new ConcurrencyLimiter(limits, () => serviceBusy('Too many logins at once'));
  return {
    run: (client, work) => limiter.run('personId' in client ? client.personId : rateLimitKey(client.address), work),
  };
}
