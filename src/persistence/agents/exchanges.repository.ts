import type { Session, SessionChange } from '../../domain/agents/session.ts';
import type { Sql } from '../database/sql.ts';

/** An accepted exchange of one computer. */
export interface SessionWrite {
  session: Pick<Session, 'computerId' | 'version'>;
  change: SessionChange;
  now: Date;
}

export interface SavedExchange {
  /** Sent operations; those of {@link SessionChange.sends} that are missing here were canceled meanwhile. */
  sent: Set<number>;
  /** Results of this computer's operations that had none yet. */
  accepted: Set<number>;
}

/**
 * Updates counters and message states and inserts the events for the batches, in one statement.
 * @returns null in place of each exchange that conflicts with another one of its computer
 */
export async function saveSessions(sql: Sql, writes: readonly SessionWrite[]): Promise<Array<SavedExchange | null>> {
  // A computer can have two identities until one of them is used: only its first exchange is saved.
  const unique = [...new Map(writes.toReversed().map((write) => [write.session.computerId, write])).values()];
  const hasMessages = unique.some(({ change }) => touchesMessages(change));
  const values = hasMessages ? [...sessionColumns(unique), ...messageColumns(unique)] : sessionColumns(unique);
  const statement = hasMessages ? SESSIONS_AND_MESSAGES : ONLY_SESSIONS;
  const name = hasMessages ? 'gateway-write-all' : 'gateway-write-agents';
  const [row] = await sql.query<SavedRow>(statement, values, name);
  const written = new Set(row!.written);
  const sent = new Set(row!.sent);
  const accepted = new Set(row!.accepted);
  const first = new Set(unique);
  return writes.map((write) => (first.has(write) && written.has(write.session.computerId) ? { sent, accepted } : null));
}

interface SavedRow extends Record<string, unknown> {
  written: number[] | null;
  sent?: number[] | null;
  accepted?: number[] | null;
}

function touchesMessages({ acked, sends, resends, dropped, results }: SessionChange): boolean {
  return acked.length + sends.length + resends.length + results.length > 0 || dropped !== null;
}

function sessionColumns(writes: readonly SessionWrite[]): unknown[] {
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
  const sends = each((change) => change.sends);
  const results = each((change) => change.results);
  const states = each(({ acked, resends, dropped }) => [
    ...acked.map((activityId) => ({ activityId, state: 'acked', text: null })),
    ...resends.map((activityId) => ({ activityId, state: 'sent', text: null })),
    ...(dropped ? [{ ...dropped, state: 'dropped' }] : []),
  ]);
  return [
    sends.map(({ id }) => id),
    sends.map(({ item }) => item.activityId),
    sends.map(({ item }) => item.position),
    sends.map(({ now }) => now),
    results.map(({ id }) => id),
    results.map(({ item }) => item.operationId),
    results.map(({ item }) => item.ok),
    results.map(({ item }) => item.code),
    results.map(({ item }) => item.text),
    results.map(({ now }) => now),
    states.map(({ id }) => id),
    states.map(({ item }) => item.activityId),
    states.map(({ item }) => item.state),
    states.map(({ item }) => item.text),
    states.map(({ now }) => now),
  ];
}

const UPDATE_SESSIONS = `
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

const ONLY_SESSIONS = `with ${UPDATE_SESSIONS} select array_agg(computer_id) as written from session`;

// Everything joins `session`, so that a conflict writes nothing. Messages are locked in the order of their operations,
// as everywhere.
const SESSIONS_AND_MESSAGES = `
  with ${UPDATE_SESSIONS}, reported as (
    select r.id, r.ok, r.code, r.body, r.at, r.ordinal, m.lane_id, m.computer_id
    from unnest($22::int[], $23::int[], $24::bool[], $25::int[], $26::text[], $27::timestamptz[])
      with ordinality r(computer_id, id, ok, code, body, at, ordinal)
    join session s on s.computer_id = r.computer_id
    join agent_message m on m.activity_id = r.id and m.computer_id = r.computer_id
    join activity a on a.id = r.id
    where m.state in ('held', 'queued', 'sent', 'acked') and a.status not in ('succeeded', 'failed')
  ), locked as (
    select m.activity_id, c.position, c.at
    from unnest($18::int[], $19::int[], $20::bigint[], $21::timestamptz[]) c(computer_id, id, position, at)
    join session s on s.computer_id = c.computer_id
    join agent_message m on m.activity_id = c.id and m.computer_id = c.computer_id
    where m.state in ('held', 'queued')
    order by m.activity_id for update of m
  ), newly_sent as (
    update agent_message m set state = 'sent', sent_at = p.at, position = p.position, send_count = 1
    from locked p where m.activity_id = p.activity_id
    returning m.activity_id, m.lane_id, p.at
  ), changed as (
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
  ), pending_events as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at)
    select lane_id, activity_id, kind, ok, code, body, at from (
      select lane_id, activity_id, 'delivered' as kind, null::bool as ok, null::int as code, null::text as body, at,
        0 as ordinal
      from newly_sent
      union all
      select lane_id, activity_id, 'result', false, null, body, at, 0 from changed where state = 'dropped'
      union all
      select lane_id, id, 'result', ok, code, body, at, ordinal from reported
    ) n order by ordinal
  )
  select (select array_agg(computer_id) from session) as written,
    (select array_agg(activity_id) from newly_sent) as sent,
    (select array_agg(id) from reported) as accepted`;
