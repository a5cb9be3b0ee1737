import type { Sql } from '../../persistence/sql.ts';
import type { OperationResult } from '../facts/facts.ts';
import type { Control, DueOperation, SentOperation, Session } from './session.ts';

/** Payloads of one answer, in stored bytes; at least one operation is handed out whatever its size. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;

/** Whose identity it is: a live computer, or one that was removed. */
export type Identified = { kind: 'computer'; session: Session } | { kind: 'removed'; computerId: number };

interface SessionRow {
  computer_id: number;
  account_id: number | null;
  title: string;
  state: 'pending' | 'approved';
  archived: boolean;
  disabled: boolean;
  max_message_backlog: number | null;
  version: number;
  in_next: number | null;
  out_base: number | null;
  out_next: number;
  token: string | null;
  request_digest: Buffer | null;
  controls: Control[];
  head_tries: number;
  head_sends: number;
  client_types_digest: Buffer | null;
  served_approved: boolean;
  resync_wanted: boolean;
  resync_id: number | null;
  resync_at: Date | null;
  sent: SentOperation[] | null;
  due: DueOperation[] | null;
  has_held: boolean;
}

/**
 * Reads everything an exchange needs to know, as of one instant and without locks; {@link writeSession} notices when
 * another exchange came between.
 */
export async function readSession(db: Sql, secureIdHash: Buffer, now: Date): Promise<Identified | null> {
  const [row] = await db.query<SessionRow>(READ, [secureIdHash, now, MAX_PAYLOAD_BYTES], 'gateway-read-session');
  if (!row) return null;
  if (row.account_id === null) return { kind: 'removed', computerId: row.computer_id };
  return { kind: 'computer', session: toSession(row, row.account_id) };
}

function toSession(row: SessionRow, accountId: number): Session {
  return {
    computerId: row.computer_id,
    accountId,
    title: row.title,
    approved: row.state === 'approved' && !row.archived,
    archived: row.archived,
    accountDisabled: row.disabled,
    maxBacklog: row.max_message_backlog,
    version: row.version,
    inNext: row.in_next,
    outBase: row.out_base,
    outNext: row.out_next,
    token: row.token,
    requestDigest: row.request_digest,
    controls: row.controls,
    headTries: row.head_tries,
    headSends: row.head_sends,
    clientTypesDigest: row.client_types_digest,
    servedApproved: row.served_approved,
    resyncWanted: row.resync_wanted,
    resyncId: row.resync_id,
    resyncAt: row.resync_at,
    sent: row.sent ?? [],
    due: row.due ?? [],
    hasHeld: row.has_held,
  };
}

/** The outcome of an exchange for the agent's row and its messages. */
export interface SessionChange {
  inNext: number;
  outBase: number;
  outNext: number;
  token: string;
  requestDigest: Buffer | null;
  controls: Control[];
  headTries: number;
  headSends: number;
  clientTypesDigest: Buffer | null;
  servedApproved: boolean;
  resyncWanted: boolean;
  resyncId: number | null;
  resyncAt: Date | null;
  acked: readonly number[];
  /** Operations handed out for the first time, with their positions. */
  claims: ReadonlyArray<{ activityId: number; position: number }>;
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

/**
 * Writes an exchange's outcome: counters, the state of messages, and inbox rows for the lanes, in one statement.
 *
 * @returns null, with nothing written, when another exchange of the computer came between
 */
export async function writeSession(
  sql: Sql,
  session: Session,
  change: SessionChange,
  now: Date,
): Promise<SessionWritten | null> {
  const results = change.results;
  const [row] = await sql.query<{ written: boolean; claimed: number[] | null; accepted: number[] | null }>(
    WRITE,
    [
      session.computerId,
      session.version,
      change.inNext,
      change.outBase,
      change.outNext,
      change.token,
      change.requestDigest,
      JSON.stringify(change.controls),
      change.headTries,
      change.headSends,
      change.clientTypesDigest,
      change.servedApproved,
      change.resyncWanted,
      change.resyncId,
      change.resyncAt,
      now,
      change.acked,
      change.claims.map((claim) => claim.activityId),
      change.claims.map((claim) => claim.position),
      change.resent,
      change.dropped?.activityId ?? null,
      change.dropped?.text ?? null,
      results.map((result) => result.operationId),
      results.map((result) => result.ok),
      results.map((result) => result.code),
      results.map((result) => result.text),
    ],
    'gateway-write-session',
  );
  if (!row!.written) return null;
  return { claimed: new Set(row!.claimed), accepted: new Set(row!.accepted) };
}

/** Messages of operations that are sent again, by payload id. */
export async function readPayloads(db: Sql, ids: readonly number[]): Promise<Map<number, DueOperation>> {
  const rows = await db.query<{ id: number; message_type: string; fields: Record<string, unknown> }>(
    'select id, message_type, fields from operation_payload where id = any($1::bigint[])',
    [ids],
    'gateway-read-payloads',
  );
  return new Map(rows.map((row) => [row.id, { activityId: 0, messageType: row.message_type, fields: row.fields }]));
}

const READ = `
  select i.computer_id, c.account_id, c.title, c.state, c.archived, ac.disabled, ac.max_message_backlog,
    s.version, s.in_next, s.out_base, s.out_next, s.token, s.request_digest, s.controls, s.head_tries, s.head_sends,
    s.client_types_digest, s.served_approved, s.resync_wanted, s.resync_id, s.resync_at,
    (select json_agg(json_build_object('activityId', m.activity_id, 'payloadId', m.payload_id,
        'messageType', p.message_type, 'position', m.position))
      from agent_message m join operation_payload p on p.id = m.payload_id
      where m.computer_id = i.computer_id and m.state = 'sent') as sent,
    (select json_agg(json_build_object('activityId', d.activity_id, 'messageType', d.message_type, 'fields', d.fields)
        order by d.activity_id)
      from (
        select n.*, sum(pg_column_size(n.fields)) over (order by n.activity_id) - pg_column_size(n.fields) as before
        from (
          select m.activity_id, p.message_type, p.fields
          from agent_message m join operation_payload p on p.id = m.payload_id
          where m.computer_id = i.computer_id and m.state = 'queued' and m.deliver_at <= $2
            and (m.deliver_before is null or m.deliver_before > $2)
          order by m.activity_id limit 100) n
      ) d where d.before < $3) as due,
    exists (select from agent_message m where m.computer_id = i.computer_id and m.state = 'held') as has_held
  from agent_identity i
  left join (agent s join computer c on c.id = s.computer_id join account ac on ac.id = c.account_id)
    on s.computer_id = i.computer_id
  where i.secure_id_hash = $1`;

// The first part decides: everything else joins it, so that a lost race writes nothing at all. Messages are locked in
// the order of their operations, as everywhere.
const WRITE = `
  with session as (
    update agent set version = version + 1, in_next = $3, out_base = $4, out_next = $5, token = $6, request_digest = $7,
      controls = $8, head_tries = $9, head_sends = $10, client_types_digest = $11, served_approved = $12,
      resync_wanted = $13, resync_id = $14, resync_at = $15
    where computer_id = $1 and version = $2
    returning computer_id
  ), reported as (
    select r.id, r.ok, r.code, r.body, r.ordinal, m.lane_id
    from session s
    cross join unnest($23::int[], $24::bool[], $25::int[], $26::text[]) with ordinality r(id, ok, code, body, ordinal)
    join agent_message m on m.activity_id = r.id and m.computer_id = s.computer_id
    join activity a on a.id = r.id
    where m.state in ('held', 'queued', 'sent', 'acked') and a.status not in ('succeeded', 'failed')
  ), picked as (
    select m.activity_id, c.position
    from session s cross join unnest($18::int[], $19::bigint[]) c(id, position)
    join agent_message m on m.activity_id = c.id and m.computer_id = s.computer_id
    where m.state = 'queued'
    order by m.activity_id for update of m
  ), claimed as (
    update agent_message m set state = 'sent', sent_at = $16, position = p.position, send_count = 1
    from picked p where m.activity_id = p.activity_id
    returning m.activity_id, m.lane_id
  ), settled as (
    update agent_message m
    set state = case when m.activity_id = $21 then 'dropped' when m.activity_id = any($20::int[]) then 'sent' else 'acked' end,
      send_count = m.send_count + case when m.activity_id = any($20::int[]) then 1 else 0 end
    from session s
    where m.computer_id = s.computer_id and (
      m.state = 'sent' and m.activity_id = any($17::int[] || $20::int[] || $21::int)
      or m.state in ('held', 'queued') and m.activity_id in (select id from reported))
    returning m.activity_id, m.lane_id, m.state
  ), news as (
    insert into agent_inbox (lane_id, activity_id, kind, ok, code, body, at)
    select lane_id, activity_id, kind, ok, code, body, $16 from (
      select lane_id, activity_id, 'delivered' as kind, null::bool as ok, null::int as code, null::text as body, 0 as ordinal
      from claimed
      union all
      select lane_id, activity_id, 'result', false, null, $22::text, 0 from settled where state = 'dropped'
      union all
      select lane_id, id, 'result', ok, code, body, ordinal from reported
    ) n order by ordinal
  )
  select exists (select from session) as written,
    (select array_agg(activity_id) from claimed) as claimed,
    (select array_agg(id) from reported) as accepted`;
