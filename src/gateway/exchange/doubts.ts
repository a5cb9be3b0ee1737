import type { Sql } from '../../persistence/database/sql.ts';
import { senderOf } from '../../services/common/token-buckets.ts';
import { MAX_MESSAGES_PER_ANSWER } from './counters.ts';
import type { ExchangePayload } from './request.ts';
import type { Session } from './session.ts';

/** A sign that a second machine may be using the identity of a computer. */
export interface Doubt {
  computerId: number;
  accountId: number;
  title: string;
  /** Where the request came from. */
  address: string;
  /** What the computer did, after its title. */
  what: string;
}

interface Exchange {
  token: string | null;
  address: string;
  payload: Pick<ExchangePayload, 'nextExpected'> & { sequence: number };
}

/**
 * Whether an exchange may be that of a second machine with the identity of a computer: without the token that the last
 * answer carried and from another address, or with counters that do not continue. Agents lose their token with every
 * failure, and addresses change, so this is a reason to alert, not to refuse.
 *
 * @returns null when there is no doubt, or nothing to compare with: before the first exchange, and after a restore of
 *   the database
 */
export function doubtOf(session: Session, request: Exchange): Doubt | null {
  if (session.inNext === null || session.token === null) return null;
  const what = describeDoubt(session, request);
  if (what === null) return null;
  const { computerId, accountId, title } = session;
  return { computerId, accountId, title, address: request.address, what };
}

function describeDoubt(session: Session, { token, address, payload }: Exchange): string | null {
  if (token === null && isElsewhere(session.lastAddress, address)) {
    return `exchanged without its token from ${address}, another address than before`;
  }
  return continues(session, payload) ? null : 'exchanged with counters that do not continue';
}

/** Compares networks, as IPv6 hosts change their addresses in them at will. */
export function isElsewhere(lastAddress: string | null, address: string): boolean {
  return lastAddress !== null && lastAddress !== senderOf(address);
}

/**
 * An agent goes on from the last answer, or repeats the payload before, perhaps with more messages; and it wants the
 * next message after some of those that it was sent.
 */
function continues(session: Session, { sequence, nextExpected }: Exchange['payload']): boolean {
  const { inNext, lastSequence, outBase, controls, sent } = session;
  const isRepeated = lastSequence === null ? sequence < inNext! : sequence === lastSequence;
  if (sequence !== inNext && !isRepeated) return false;
  if (nextExpected === null || outBase === null) return true;
  const unacknowledged = Math.min(controls.length + sent.length, MAX_MESSAGES_PER_ANSWER);
  return nextExpected >= outBase && nextExpected <= outBase + unacknowledged;
}

/**
 * Raises the alert about duplicates on computers and writes an event of each, the same one again only after ten minutes.
 *
 * @remarks One statement, so nothing is there without the other.
 */
export async function recordDoubts(sql: Sql, doubts: readonly Doubt[]): Promise<void> {
  await sql.query(
    RECORD,
    [
      doubts.map(({ computerId }) => computerId),
      doubts.map(({ accountId }) => accountId),
      doubts.map(({ title }) => title),
      doubts.map(({ address }) => address),
      doubts.map(({ title, what }) => `The computer ${title} ${what}; a second machine may be using its identity`),
    ],
    'gateway-record-doubts',
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
