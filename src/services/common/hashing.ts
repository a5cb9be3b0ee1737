import { availableParallelism } from 'node:os';
import { inTurn } from './crowd.ts';
import { FairGate, type FairGateLimits } from './fair-gate.ts';
import { rateLimitKey } from './token-buckets.ts';

/** Who wants a password hashed: a person who is known by a token, else whoever is at an address. */
export type Asker = { personId: number } | { address: string };

/** Hashes passwords a few at a time. Those who ask take turns, so that nobody waits for all guesses of somebody else. */
export interface Hashing {
  /**
   * Runs everything of an attempt that hashes.
   *
   * @throws {DomainError} ServiceUnavailable when too many wait, all together or of this asker
   */
  run<T>(by: Asker, work: () => Promise<T>): Promise<T>;
}

/** A core stays free for everything else: a hash costs 20 ms of it and 19 MiB. */
const WIDTH = Math.max(1, availableParallelism() - 1);

const LIMITS: FairGateLimits = {
  width: WIDTH,
  // A place is soon free, and the next turn is another's: none has to be kept for them.
  share: WIDTH,
  // One costs no memory to speak of; past this many the wait is longer than a client's patience.
  waiting: 256,
  // A whole office may be behind one address; less than two seconds of one core.
  waitingPerKey: 64,
  patienceMs: 10_000,
};

/** The one way to a hash for all services of a process. @param limits - default: by the cores of the machine */
export function createHashing(limits: FairGateLimits = LIMITS): Hashing {
  const gate = new FairGate(limits);
  return {
    run: (by, work) =>
      inTurn(gate, 'personId' in by ? by.personId : rateLimitKey(by.address), 'Too many logins at once', work),
  };
}
