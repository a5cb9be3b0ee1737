import type { Sql } from '../../persistence/database/sql.ts';
import { rateLimitKey } from '../../services/common/token-buckets.ts';
import { MAX_MESSAGES_PER_RESPONSE } from './counters.ts';
import type { ExchangePayload } from './payload.ts';
import type { Session } from './session.ts';

/** A sign that a second machine may be using the identity of a computer. */
export interface SuspectedClone {
  computerId: number;
  accountId: number;
  title: string;
  address: string;
  /** What the computer did; follows its title in a sentence. */
  what: string;
}

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

/** Raises the alert about duplicates and writes an event per computer, at most every ten minutes for the same one. */
export async function recordSuspectedClones(sql: Sql, suspicions: readonly SuspectedClone[]): Promise<void> {
  await sql.query(
    RECORD,
    [
      suspicions.map(({ computerId }) => computerId),
      suspicions.map(({ accountId }) => accountId),
      suspicions.map(({ title }) => title),
      suspicions.map(({ address }) => address),
      suspicions.map(({ title, what }) => `The computer ${title} ${what}; a second machine may be using its identity`),
    ],
    'gateway-record-suspected-clones',
  );
}

const RECORD = `
  with given as (
    select * from unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::text[])
      g(computer_id, account_id, title, address, message)
  ), known as (
    select g.*, s.doubt is not distinct from g.message and s.doubted_at > now() - interval '10 minutes' as repeated
    from given g left join computer_status s on s.computer_id = g.computer_id
  ), raised as (
    insert into computer_status as s (computer_id, doubted_at, doubt)
    select computer_id, now(), message from known where repeated is not true order by computer_id
    on conflict (computer_id) do update set doubted_at = excluded.doubted_at, doubt = excluded.doubt
  )
  insert into event (account_id, person_name, address, request_id, entity_type, entity_id, entity_name, message)
  select account_id, 'Flotilla', address, '', 'Computer', computer_id, title, message
  from known where repeated is not true`;
