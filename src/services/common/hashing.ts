import { availableParallelism } from 'node:os';
import { ConcurrencyLimiter, type ConcurrencyLimits, serviceBusy } from './concurrency-limiter.ts';
import { rateLimitKey } from './token-buckets.ts';

/** Whose password is hashed: that of a person who is known by a token, else of whoever is at an address. */
export type HashingClient = { personId: number } | { address: string };

/** Hashes passwords a few at a time. Clients take turns, so that nobody waits for all guesses of somebody else. */
export interface Hashing {
  /**
   * Runs everything of an attempt that hashes.
   * @throws {DomainError} ServiceUnavailable when too many wait, in all or of this client
   */
  run<T>(client: HashingClient, work: () => Promise<T>): Promise<T>;
}

/** One core stays free for everything else: a hash costs 20 ms of a core and 19 MiB. */
const CONCURRENCY = Math.max(1, availableParallelism() - 1);

const LIMITS: ConcurrencyLimits = {
  concurrency: CONCURRENCY,
  // A slot is soon free, and the next turn is another client's: none has to be kept for them.
  concurrencyPerKey: CONCURRENCY,
  // A queued attempt costs hardly any memory; beyond this many, clients would time out anyway.
  maxQueued: 256,
  // A whole office may be behind one address; less than two seconds of one core.
  maxQueuedPerKey: 64,
  queueTimeoutMs: 10_000,
};

/** All services of a process hash through one. @param limits - default: by the cores of the machine */
export function createHashing(limits: ConcurrencyLimits = LIMITS): Hashing {
  const limiter = new ConcurrencyLimiter(limits, () => serviceBusy('Too many logins at once'));
  return {
    run: (client, work) => limiter.run('personId' in client ? client.personId : rateLimitKey(client.address), work),
  };
}
