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

/** A second machine may have the identity. Only an alert, as agents lose tokens. Null also before an exchange. */
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

/** Agents continue or repeat the last payload, maybe with more messages, and expect one after those sent. */
function hasContinuousCounters(session: Session, { sequence, nextExpected }: Exchange['payload']): boolean {
  const { inNext, lastSequence, outBase, controls, sent } = session;
  const isRepeated = lastSequence === null ? sequence < inNext! : sequence === lastSequence;
  if (sequence !== inNext && !isRepeated) return false;
  if (nextExpected === null || outBase === null) return true;
  const unacknowledged = Math.min(controls.length + sent.length, MAX_MESSAGES_PER_RESPONSE);
  return nextExpected >= outBase && nextExpected <= outBase + unacknowledged;
}
