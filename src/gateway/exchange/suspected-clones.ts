import type { Session } from '../../domain/agents/session.ts';
import type { SuspectedClone } from '../../persistence/agents/clones.sql.ts';
import { rateLimitKey } from '../../process/client-address.ts';
import { MAX_MESSAGES_PER_RESPONSE } from './counters.ts';
import type { ExchangePayload } from './payload.ts';

interface Exchange {
  token: string | null;
  address: string;
  payload: Pick<ExchangePayload, 'nextExpected'> & { sequence: number };
}

/**
 * Whether an exchange may come from a second machine with the same identity: it has no token and comes from another
 * network, or its counters do not continue. Only an alert: agents lose their token with failures, and addresses change.
 * @returns null also without a previous exchange: before the first one, and after a restore of the database
 */
export function suspectClone(session: Session, request: Exchange): SuspectedClone | null {
  if (session.inNext === null || session.token === null) return null;
  const what = describeSuspicion(session, request);
  if (what === null) return null;
  const { computerId, accountId, title } = session;
  return { computerId, accountId, title, address: request.address, what };
}

function describeSuspicion(session: Session, { token, address, payload }: Exchange): string | null {
  if (token === null && isOtherNetwork(session.lastAddress, address)) {
    return `exchanged without its token from ${address}, another address than before`;
  }
  return hasContinuousCounters(session, payload) ? null : 'exchanged with counters that do not continue';
}

/** Compares networks, as IPv6 hosts change their addresses within one. */
export function isOtherNetwork(lastAddress: string | null, address: string): boolean {
  return lastAddress !== null && lastAddress !== rateLimitKey(address);
}

/**
 * An agent continues after the last response or repeats the previous payload, perhaps with more messages; the message
 * it expects next follows one of those sent to it.
 */
function hasContinuousCounters(session: Session, { sequence, nextExpected }: Exchange['payload']): boolean {
  const { inNext, lastSequence, outBase, controls, sent } = session;
  const isRepeated = lastSequence === null ? sequence < inNext! : sequence === lastSequence;
  if (sequence !== inNext && !isRepeated) return false;
  if (nextExpected === null || outBase === null) return true;
  const unacknowledged = Math.min(controls.length + sent.length, MAX_MESSAGES_PER_RESPONSE);
  return nextExpected >= outBase && nextExpected <= outBase + unacknowledged;
}
