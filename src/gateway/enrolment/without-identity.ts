import type { Logger } from '../../logger.ts';
import type { Database } from '../../persistence/sql.ts';
import { type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/ports.ts';
import type { ProfileRunDeps } from '../../services/script-profile-runs.ts';
import { acceptedTypesMessage, registrationMessage, setIdMessage } from '../exchange/answer.ts';
import { MalformedMessage } from '../facts/fields.ts';
import { messageType } from '../facts/read-messages.ts';
import type { FloodLimiter } from '../http/flood-limiter.ts';
import type { Gate } from '../http/gate.ts';
import { Refusal } from '../http/refusal.ts';
import { REGISTER_ONLY } from '../message-types.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { enrol } from './enrolment.ts';
import { type Registration, readRegistration } from './registration.ts';

export interface EnrolmentDeps {
  db: Database;
  logger: Logger;
  clock: Clock;
  gate: Gate;
  /** Counts refused registrations by address. */
  refusals: FloodLimiter;
  /** For what runs on computers that enrol. */
  runs: ProfileRunDeps;
  metrics: Pick<GatewayMetrics, 'enrolled'>;
}

/**
 * Answers a payload without an identity: an enrolment when it has a `register` message, else an invitation to send one.
 * Other messages are leftovers of an earlier identity and are ignored.
 *
 * @throws {Refusal} 429 when too many registrations from this address were refused lately
 */
export async function answerWithoutIdentity(
  deps: EnrolmentDeps,
  messages: readonly BValue[],
  address: string,
): Promise<BObject[]> {
  const message = messages.findLast((item) => messageType(item) === 'register');
  if (!isDict(message)) return [acceptedTypesMessage(REGISTER_ONLY.types)];
  const nowMs = deps.clock.now().getTime();
  if (!deps.refusals.take(address, 0, nowMs)) throw tooMany();
  const registration = tryRead(message);
  if (!registration) {
    deps.metrics.enrolled('refused');
    if (!deps.refusals.take(address, 1, nowMs)) throw tooMany();
    return [registrationMessage('unknown-account')];
  }
  const enrolment = await deps.gate.run(() => enrol(deps.db, registration, deps.clock.now(), deps.runs));
  if (enrolment.kind === 'late') return [acceptedTypesMessage(REGISTER_ONLY.types)];
  if (enrolment.kind === 'refused') {
    deps.metrics.enrolled('refused');
    deps.logger.info({ address, reason: enrolment.info }, 'registration refused');
    if (!deps.refusals.take(address, 1, nowMs)) throw tooMany();
    return [registrationMessage(enrolment.info)];
  }
  const { computerId, secureId, approved } = enrolment;
  deps.metrics.enrolled(approved ? 'approved' : 'pending');
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

function tooMany(): Refusal {
  return new Refusal(429, 'TooManyRequests', 'Too many refused registrations from this address');
}
