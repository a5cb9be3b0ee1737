import type { Database } from '../../persistence/database/sql.ts';
import type { Logger } from '../../process/logger.ts';
import { type BObject, type BValue, isDict } from '../../protocol/bpickle.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import type { TokenBuckets } from '../../process/admission/token-buckets.ts';
import { rateLimitKey } from '../../process/client-address.ts';
import type { ProfileRunDeps } from '../../services/scripts/profiles/script-profile-runs.ts';
import { acceptedTypesMessage, registrationMessage, setIdMessage } from '../exchange/response.ts';
import { MalformedMessage } from '../facts/fields.ts';
import { messageType } from '../facts/read-messages.ts';
import { REGISTER_ONLY } from '../http/message-types.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import { rejectIfLimited } from '../http/response.ts';
import { enrol } from './enrolment.ts';
import { type Registration, readRegistration } from './registration.ts';

export interface RegistrationDeps {
  db: Database;
  logger: Logger;
  clock: Clock;
  limiter: ConcurrencyLimiter;
  failedRegistrations: TokenBuckets;
  registrations: TokenBuckets | null;
  runs: ProfileRunDeps;
  simulationKey: string | null;
  metrics: Pick<GatewayMetrics, 'enrolled' | 'faulty'>;
}

const TOO_MANY = 'Too many registrations';

/** Enrols on a `register` message, else requests one; ignores others. @throws 429 after too many registrations */
export async function register(
  deps: RegistrationDeps,
  messages: readonly BValue[],
  address: string,
): Promise<BObject[]> {
  const { clock, metrics, logger } = deps;
  const message = messages.findLast((item) => messageType(item) === 'register');
  if (!isDict(message)) return [acceptedTypesMessage(REGISTER_ONLY.types)];
  const sender = rateLimitKey(address);
  rejectIfLimited(deps.failedRegistrations.wait(sender, 1, clock.now().getTime()), TOO_MANY);
  consume(deps, deps.registrations, sender);
  const registration = tryRead(message);
  if (!registration) {
    metrics.enrolled('refused');
    consume(deps, deps.failedRegistrations, sender);
    return [registrationMessage('unknown-account')];
  }
  const limitAccount = (accountId: number): void => consume(deps, deps.registrations, `account ${accountId}`);
  const enrolment = await deps.limiter.run(sender, () => enrol(deps, registration, clock.now(), limitAccount));
  if (enrolment.kind === 'late') {
    metrics.enrolled('late');
    return [acceptedTypesMessage(REGISTER_ONLY.types)];
  }
  if (enrolment.kind === 'rejected') {
    metrics.enrolled('refused');
    logger.info({ address, reason: enrolment.info }, 'registration rejected');
    consume(deps, deps.failedRegistrations, sender);
    return [registrationMessage(enrolment.info)];
  }
  const { computerId, secureId, approved } = enrolment;
  metrics.enrolled(approved ? 'approved' : 'pending');
  metrics.faulty(registration.faults);
  logger.info({ computerId, approved }, 'computer enrolled');
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

function consume({ clock }: RegistrationDeps, buckets: TokenBuckets | null, key: string): void {
  if (buckets) rejectIfLimited(buckets.take(key, 1, clock.now().getTime()), TOO_MANY);
}
