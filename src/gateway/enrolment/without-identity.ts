import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';
import { type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/common/ports.ts';
import { senderOf, type TokenBuckets } from '../../services/common/token-buckets.ts';
import type { ProfileRunDeps } from '../../services/scripts/profiles/script-profile-runs.ts';
import { acceptedTypesMessage, registrationMessage, setIdMessage } from '../exchange/answer.ts';
import { MalformedMessage } from '../facts/fields.ts';
import { messageType } from '../facts/read-messages.ts';
import type { Gate } from '../http/gate.ts';
import { REGISTER_ONLY } from '../http/message-types.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import { Refusal } from '../http/refusal.ts';
import { enrol } from './enrolment.ts';
import { type Registration, readRegistration } from './registration.ts';

export interface EnrolmentDeps {
  db: Database;
  logger: Logger;
  clock: Clock;
  gate: Gate;
  /** Counts refused registrations by address. */
  refusals: TokenBuckets;
  /** Counts registrations by address and by account; null for no limit. */
  rate: TokenBuckets | null;
  /** For what runs on computers that enrol. */
  runs: ProfileRunDeps;
  /** What computers present that this server simulates for itself. */
  simulationKey: string | null;
  metrics: Pick<GatewayMetrics, 'enrolled' | 'faulty'>;
}

/**
 * Answers a payload without an identity: an enrolment when it has a `register` message, else an invitation to send one.
 * Other messages are leftovers of an earlier identity and are ignored.
 *
 * @throws {Refusal} 429 when too many registrations came from this address, or too many of them were refused, or too
 * many came with the key of one account; agents try again at their next exchange
 */
export async function answerWithoutIdentity(
  deps: EnrolmentDeps,
  messages: readonly BValue[],
  address: string,
): Promise<BObject[]> {
  const message = messages.findLast((item) => messageType(item) === 'register');
  if (!isDict(message)) return [acceptedTypesMessage(REGISTER_ONLY.types)];
  const sender = senderOf(address);
  hold(deps.refusals.wait(sender, 1, deps.clock.now().getTime()));
  spend(deps, deps.rate, sender);
  const registration = tryRead(message);
  if (!registration) {
    deps.metrics.enrolled('refused');
    spend(deps, deps.refusals, sender);
    return [registrationMessage('unknown-account')];
  }
  const admit = (accountId: number): void => spend(deps, deps.rate, `account ${accountId}`);
  const enrolment = await deps.gate.run(() => enrol(deps, registration, deps.clock.now(), admit));
  if (enrolment.kind === 'late') {
    deps.metrics.enrolled('late');
    return [acceptedTypesMessage(REGISTER_ONLY.types)];
  }
  if (enrolment.kind === 'refused') {
    deps.metrics.enrolled('refused');
    deps.logger.info({ address, reason: enrolment.info }, 'registration refused');
    spend(deps, deps.refusals, sender);
    return [registrationMessage(enrolment.info)];
  }
  const { computerId, secureId, approved } = enrolment;
  deps.metrics.enrolled(approved ? 'approved' : 'pending');
  deps.metrics.faulty(registration.faults);
  deps.logger.info({ computerId, approved }, 'computer enrolled');
  return [setIdMessage(secureId, computerId)];
}

function tryRead(message: BObject): Registration | null {
  try {
    return readRegistration(message);
  } catch (error) {
    if (error instanceof MalformedMessage) return null;
    throw error;
  }
}

/** @throws {Refusal} 429 when the key has spent all it may */
function spend({ clock }: EnrolmentDeps, buckets: TokenBuckets | null, key: string): void {
  if (buckets) hold(buckets.take(key, 1, clock.now().getTime()));
}

function hold(waitSeconds: number): void {
  if (waitSeconds > 0) throw new Refusal(429, 'TooManyRequests', 'Too many registrations', waitSeconds);
}
