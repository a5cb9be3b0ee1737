import type { Sql } from '../../persistence/database/sql.ts';
import type { OperationResult } from '../facts/facts.ts';
import type { Session } from './session.ts';

/** What every exchange may change of a session as it is. */
type Carried = Pick<
  Session,
  | 'outNext'
  | 'requestDigest'
  | 'controls'
  | 'headTries'
  | 'headSends'
  | 'clientTypesDigest'
  | 'servedApproved'
  | 'resyncWanted'
  | 'resyncId'
  | 'resyncAt'
  | 'lastSequence'
  | 'lastAddress'
>;

/** The outcome of an exchange for the agent's row and its messages. */
export interface SessionChange extends Carried {
  inNext: number;
  outBase: number;
  token: string;
  acked: readonly number[];
  /** Operations handed out for the first time, with their positions. */
  claims: ReadonlyArray<{ activityId: number; position: number; messageType: string }>;
  /** Operations sent once more. */
  resent: readonly number[];
  /** An operation given up, with the text its failure gets. */
  dropped: { activityId: number; text: string } | null;
  results: readonly OperationResult[];
}

export interface SessionWritten {
  /** Claims that held: the rest was withdrawn meanwhile. */
  claimed: Set<number>;
  /** Results of operations that this computer has and that wait for one. */
  accepted: Set<number>;
}

/** One exchange to be written. */
export interface SessionWrite {
  session: Session;
  change: SessionChange;
  now: Date;
}

/**
 * Writes the outcome of exchanges of different computers: counters, the state of messages, and inbox rows for the
 * lanes, all in one statement.
 *
 * @returns null, with nothing written, in place of each that another exchange of its computer came before
 */
export async function writeSessions(sql: Sql, writes: readonly SessionWrite[]): Promise<Array<SessionWritten | null>> {
  // Two identities can stand for one computer until one of them is used: only the first of them is written.
  const unique = [...new Map(writes.toReversed().map((write) => [write.session.computerId, write])).values()];
  const touching = unique.some(({ change }) => touchesMessages(change));
  const values = touching ? [...agentColumns(unique), ...messageColumns(unique)] : agentColumns(unique);
  const statement = touching ? WRITE : UPDATE_AGENTS;
  const [row] = await sql.query<WrittenRow>(statement, values, touching ? 'gateway-write-all' : 'gateway-write-agents');
  const written = new Set(row!.written);
  const claimed = new Set(row!.claimed);
  const accepted = new Set(row!.accepted);
  const first = new Set(unique);
  return writes.map((write) =>
    first.has(write) && written.has(write.session.computerId) ? { claimed, accepted } : null,
  );
}

interface WrittenRow extends Record<string, unknown> {
  written: number[] | null;
  claimed?: number[] | null;
  accepted?: number[] | null;
}

function touchesMessages({ acked, claims, resent, dropped, results }: SessionChange): boolean {
  return acked.length + claims.length + resent.length + results.length > 0 || dropped !== null;
}

function agentColumns(writes: readonly SessionWrite[]): unknown[] {
  const of = <T>(value: (change: SessionChange) => T): T[] => writes.map(({ change }) => value(change));
  return [
    writes.map(({ session }) => session.computerId),
    writes.map(({ session }) => session.version),
    of((change) => change.inNext),
    of((change) => change.outBase),
    of((change) => change.outNext),
    of((change) => change.token),
    of((change) => change.requestDigest),
    of((change) => JSON.stringify(change.controls)),
    of((change) => change.headTries),
    of((change) => change.headSends),
    of((change) => change.clientTypesDigest),
    of((change) => change.servedApproved),
    of((change) => change.resyncWanted),
    of((change) => change.resyncId),
    of((change) => change.resyncAt),
    of((change) => change.lastSequence),
    of((change) => change.lastAddress),
  ];
}

function messageColumns(writes: readonly SessionWrite[]): unknown[] {
  const each = <T>(items: (change: SessionChange) => readonly T[]) =>
    writes.flatMap(({ session, now, change }) => items(change).map((item) => ({ id: session.computerId, now, item })));
  const claims = each((change) => change.claims);
  const results = each((change) => change.results);
  const settled = each(({ acked, resent, dropped }) => [
    ...acked.map((activityId) => ({ activityId, state: 'acked', text: null })),
    ...resent.map((activityId) => ({ activityId, state: 'sent', text: null })),
    ...(dropped ? [{ ...dropped, state: 'dropped' }] : []),
  ]);
  return [
    claims.map(({ id }) => id),
    claims.map(({ item }) => item.activityId),
    claims.map(({ item }) => item.position),
    claims.map(({ now }) => now),
    results.map(({ id }) => id),
    results.map(({ item }) => item.operationId),
    results.map(({ item }) => item.ok),
    results.map(({ item }) => item.code),
    results.map(({ item }) => item.text),
    results.map(({ now }) => now),
    settled.map(({ id }) => id),
    settled.map(({ item }) => item.activityId),
    settled.map(({ item }) => item.state),
    settled.map(({ item }) => item.text),
    settled.map(({ now }) => now),
  ];
}

const SESSION = `
  session as (
    update agent a set version = a.version + 1, in_next = g.in_next, out_base = g.out_base, out_next = g.out_next,
      token = g.token, request_digest = g.request_digest, controls = g.controls, head_tries = g.head_tries,
      head_sends = g.head_sends, client_types_digest = g.client_types_digest, served_approved = g.served_approved,
      resync_wanted = g.resync_wanted, resync_id = g.resync_id, resync_at = g.resync_at,
      last_sequence = g.last_sequence, last_address = g.last_address
    from unnest($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], $7::bytea[], $8::jsonb[],
      $9::smallint[], $10::smallint[], $11::bytea[], $12::boolean[], $13::boolean[], $14::bigint[], $15::timestamptz[],
      $16::bigint[], $17::text[])
      g(computer_id, version, in_next, out_base, out_next, token, request_digest, controls, head_tries, head_sends,
        client_types_digest, served_approved, resync_wanted, resync_id, resync_at, last_sequence, last_address)
    where a.computer_id = g.computer_id and a.version = g.version
    returning a.computer_id
  )`;

const UPDATE_AGENTS = `with ${SESSION} select array_agg(computer_id) as written from session`;

// The first part decides: everything else joins it, so that a lost race writes nothing at all. Messages are found by
// their operations, and locked in their order, as everywhere.
const WRITE = `
  with ${SESSION}, reported as (
    select r.id, r.ok, r.code, r.body, r.at, r.ordinal, m.lane_id, m.computer_id
    from unnest($22::int[], $23::int[], $24::bool[], $25::int[], $26::text[], $27::timestamptz[])
      with ordinality r(computer_id, id, ok, code, body, at, ordinal)
    join session s on s.computer_id = r.computer_id
    join agent_message m on m.activity_id = r.id and m.computer_id = r.computer_id
    join activity a on a.id = r.id
    where m.state in ('held', 'queued', 'sent', 'acked') and a.status not in ('succeeded', 'failed')
  ), picked as (
    select m.activity_id, c.position, c.at
    from unnest($18::int[], $19::int[], $20::bigint[], $21::timestamptz[]) c(computer_id, id, position, at)
    join session s on s.computer_id = c.computer_id
    join agent_message m on m.activity_id = c.id and m.computer_id = c.computer_id
    where m.state in ('held', 'queued')
    order by m.activity_id for update of m
  ), claimed as (
    update agent_message m set state = 'sent', sent_at = p.at, position = p.position, send_count = 1
    from picked p where m.activity_id = p.activity_id
    returning m.activity_id, m.lane_id, p.at
  ), settled as (
    update agent_message m
    set state = t.state, send_count = m.send_count + case when t.state = 'sent' then 1 else 0 end
    from (
      select u.*, false as early
      from unnest($28::int[], $29::int[], $30::text[], $31::text[], $32::timestamptz[])
        u(computer_id, id, state, body, at)
      join session s on s.computer_id = u.computer_id
      union all
      select computer_id, id, 'acked', null, at, true from reported
    ) t
    where m.activity_id = t.id and m.computer_id = t.computer_id
      and m.state = any(case when t.early then array['held', 'queued'] else array['sent'] end)
    returning m.activity_id, m.lane_id, m.state, t.body, t.at
  ), news as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at)
    select lane_id, activity_id, kind, ok, code, body, at from (
      select lane_id, activity_id, 'delivered' as kind, null::bool as ok, null::int as code, null::text as body, at,
        0 as ordinal
      from claimed
      union all
      select lane_id, activity_id, 'result', false, null, body, at, 0 from settled where state = 'dropped'
      union all
      select lane_id, id, 'result', ok, code, body, at, ordinal from reported
    ) n order by ordinal
  )
  select (select array_agg(computer_id) from session) as written,
    (select array_agg(activity_id) from claimed) as claimed,
    (select array_agg(id) from reported) as accepted`;
