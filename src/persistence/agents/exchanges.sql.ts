import type { Session, SessionChange } from '../../domain/agents/session.ts';
import { DELIVERED, NOTIFIED_BATCHES, RESULTS_CHANNEL, SMALL_BATCH } from '../activities/outbox.sql.ts';
import type { Sql } from '../database/sql.ts';
import { withoutPendingIndex } from '../database/status-sql.ts';
import { arraysOf, columnsOf, unnest } from './per-computer.ts';
import { WRITTEN } from './sessions.sql.ts';

export interface SessionWrite {
  session: Pick<Session, 'computerId' | 'version'>;
  change: SessionChange;
  now: Date;
}

export interface SavedExchange {
  /** Sent operations; those of {@link SessionChange.sends} that are missing here were canceled meanwhile. */
  sent: Set<number>;
  accepted: Set<number>;
}

/** Counters, message states and events for batches, in one statement. Null in place of each exchange that conflicts. */
export async function saveSessions(sql: Sql, writes: readonly SessionWrite[]): Promise<Array<SavedExchange | null>> {
  // A computer can have two identities until one of them is used: only its first exchange is saved.
  const unique = [...new Map(writes.toReversed().map((write) => [write.session.computerId, write])).values()];
  const hasMessages = unique.some(({ change }) => touchesMessages(change));
  const parameters = { ...sessionParameters(unique), ...(hasMessages && messageParameters(unique)) };
  const statement = hasMessages ? SESSIONS_AND_MESSAGES : ONLY_SESSIONS;
  const name = hasMessages ? 'gateway-write-all' : 'gateway-write-agents';
  const [row] = await sql.query<SavedRow>(statement, parameters, name);
  const written = new Set(row!.written);
  const sent = new Set(row!.sent);
  const accepted = new Set(row!.accepted);
  const first = new Set(unique);
  return writes.map((write) => (first.has(write) && written.has(write.session.computerId) ? { sent, accepted } : null));
}

interface SavedRow {
  written: number[] | null;
  sent?: number[] | null;
  accepted?: number[] | null;
}

function touchesMessages({ acked, sends, resends, dropped, results }: SessionChange): boolean {
  return acked.length + sends.length + resends.length + results.length > 0 || dropped !== null;
}

function sessionParameters(writes: readonly SessionWrite[]) {
  const rows = writes.map(({ session: { computerId, version }, change }) => ({
    ...{ ...change, computerId, version },
    controls: JSON.stringify(change.controls),
  }));
  return arraysOf('g', { ...SESSION, ...WRITTEN }, rows);
}

function messageParameters(writes: readonly SessionWrite[]) {
  const each = <T extends object>(items: (change: SessionChange) => readonly T[]) =>
    writes.flatMap(({ session: { computerId }, now: at, change }) =>
      items(change).map((item) => ({ ...item, computerId, at })),
    );
  const sends = each((change) => change.sends);
  const results = each((change) => change.results);
  const states = each(({ acked, resends, dropped }) => [
    ...acked.map((activityId) => ({ activityId, state: 'acked', text: null })),
    ...resends.map((activityId) => ({ activityId, state: 'sent', text: null })),
    ...(dropped ? [{ ...dropped, state: 'dropped' }] : []),
  ]);
  return { ...arraysOf('c', SENT, sends), ...arraysOf('r', RESULT, results), ...arraysOf('u', STATE, states) };
}

const SESSION = { computerId: 'int', version: 'int' };
const SENT = { computerId: 'int', activityId: 'int', position: 'bigint', at: 'timestamptz' };
const RESULT = { computerId: 'int', operationId: 'int', ok: 'bool', code: 'int', text: 'text', at: 'timestamptz' };
const STATE = { computerId: 'int', activityId: 'int', state: 'text', text: 'text', at: 'timestamptz' };

const UPDATE_SESSIONS = `
  session as (
    update agent a set version = a.version + 1, ${columnsOf(WRITTEN)
      .map((column) => `${column} = g.${column}`)
      .join(', ')}
    from ${unnest('g', { ...SESSION, ...WRITTEN })}
    where a.computer_id = g.computer_id and a.version = g.version
    returning a.computer_id
  )`;

const ONLY_SESSIONS = `with ${UPDATE_SESSIONS} select array_agg(computer_id) as written from session`;

// Everything joins `session`: a conflict writes nothing. Messages are locked in operation order, as everywhere.
const SESSIONS_AND_MESSAGES = `
  with ${UPDATE_SESSIONS}, reported as (
    select r.operation_id as id, r.ok, r.code, r.text as body, r.at, r.ordinal, m.lane_id, m.computer_id
    from ${unnest('r', RESULT, { ordinal: 'ordinal' })}
    join session s on s.computer_id = r.computer_id
    join agent_message m on m.activity_id = r.operation_id and m.computer_id = r.computer_id
    join activity a on a.id = r.operation_id
    where m.state in ('held', 'queued', 'sent', 'acked') and a.status not in ('succeeded', 'failed')
  ), locked as (
    select m.activity_id, c.position, c.at
    from ${unnest('c', SENT)}
    join session s on s.computer_id = c.computer_id
    join agent_message m on m.activity_id = c.activity_id and m.computer_id = c.computer_id
    where ${withoutPendingIndex("m.state in ('held', 'queued')")}
    order by m.activity_id for update of m
  ), newly_sent as (
    update agent_message m set state = 'sent', sent_at = p.at, position = p.position, send_count = 1
    from locked p where m.activity_id = p.activity_id
    returning m.activity_id, m.lane_id, p.at
  ), changed as (
    update agent_message m
    set state = t.state, send_count = m.send_count + case when t.state = 'sent' then 1 else 0 end
    from (
      select u.computer_id, u.activity_id as id, u.state, u.text as body, u.at, false as early
      from ${unnest('u', STATE)}
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
    (select array_agg(id) from reported) as accepted,
    (select pg_notify('${RESULTS_CHANNEL}', case
          when not bool_or(e.has_ended) then '${DELIVERED}'
          when count(*) > ${NOTIFIED_BATCHES} then ''
          else string_agg(distinct e.lane_id::text, ' ') filter (where e.has_ended) end)
      from (
        select lane_id, true as has_ended from reported
        union all select lane_id, true from changed where state = 'dropped'
        union all select lane_id, false from newly_sent) e
      join lane on lane.id = e.lane_id where size <= ${SMALL_BATCH} having count(*) > 0)`;
