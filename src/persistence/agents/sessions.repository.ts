import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import type { ControlMessage, DueOperation, SentOperation, Session } from '../../domain/agents/session.ts';
import type { Sql } from '../database/sql.ts';
import { statusList } from '../database/status-sql.ts';
import { firstUnqueued, isDue } from '../query/delivery-conditions.ts';

/** Payloads of one response, in stored bytes; one operation is sent regardless of its size. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;

/** The owner of an identity: a computer, or one that was removed. */
export type Identified = { kind: 'computer'; session: Session } | { kind: 'removed'; computerId: number };

interface SessionRow {
  secure_id_hash: Buffer;
  computer_id: number;
  account_id: number | null;
  title: string;
  tags: string[];
  state: 'pending' | 'approved';
  archived: boolean;
  disabled: boolean;
  max_message_backlog: number | null;
  version: number;
  in_next: number | null;
  last_sequence: number | null;
  last_address: string | null;
  out_base: number | null;
  out_next: number;
  token: string | null;
  request_digest: Buffer | null;
  controls: ControlMessage[];
  head_tries: number;
  head_sends: number;
  client_types_digest: Buffer | null;
  served_approved: boolean;
  resync_wanted: boolean;
  resync_id: number | null;
  resync_at: Date | null;
  wanted_scopes: string[];
  asked_scopes: string[];
  asked_id: number | null;
  asked_at: Date | null;
  sent: SentOperation[] | null;
  due: DueOperation[] | null;
}

/** Reads all data of exchanges in one snapshot, without locks; saving detects conflicts. @returns null for unknown */
export async function readSessions(
  db: Sql,
  secureIdHashes: readonly Buffer[],
  now: Date,
): Promise<Array<Identified | null>> {
  const values = [secureIdHashes, now, MAX_PAYLOAD_BYTES];
  const rows = await db.query<SessionRow>(READ, values, 'gateway-read-sessions');
  const byHash = new Map(rows.map((row) => [row.secure_id_hash.toString('latin1'), row]));
  return secureIdHashes.map((hash) => {
    const row = byHash.get(hash.toString('latin1'));
    if (!row) return null;
    if (row.account_id === null) return { kind: 'removed', computerId: row.computer_id };
    return { kind: 'computer', session: toSession(row, row.account_id) };
  });
}

function toSession(row: SessionRow, accountId: number): Session {
  return {
    computerId: row.computer_id,
    accountId,
    title: row.title,
    tags: row.tags,
    approved: row.state === 'approved' && !row.archived,
    archived: row.archived,
    accountDisabled: row.disabled,
    maxBacklog: row.max_message_backlog,
    version: row.version,
    inNext: row.in_next,
    lastSequence: row.last_sequence,
    lastAddress: row.last_address,
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
    resync: {
      wantedScopes: row.wanted_scopes,
      requestedScopes: row.asked_scopes,
      requestId: row.asked_id,
      requestedAt: row.asked_at,
    },
    sent: row.sent ?? [],
    due: row.due ?? [],
  };
}

/** By payload id. */
export async function readPayloads(db: Sql, ids: readonly number[]): Promise<Map<number, DueOperation>> {
  const rows = await db.query<{ id: number; message_type: string; fields: Record<string, unknown> }>(
    'select id, message_type, fields from operation_payload where id = any(:ids::bigint[])',
    { ids },
    'gateway-read-payloads',
  );
  return new Map(rows.map((row) => [row.id, { activityId: 0, messageType: row.message_type, fields: row.fields }]));
}

/** Operations that ended by a result, a cancellation or a deadline. Includes unprocessed results. */
export async function findEnded(db: Sql, operations: readonly number[]): Promise<Set<number>> {
  const rows = await db.query<{ id: number }>(ENDED, { operations });
  return new Set(rows.map(({ id }) => id));
}

/** Those of these operations that belong to other computers. */
export async function findForeignOperations(
  db: Sql,
  computerId: number,
  operations: readonly number[],
): Promise<number[]> {
  const statement = 'select id from activity where id = any(:operations::int[]) and computer_id <> :computerId';
  return (await db.query<{ id: number }>(statement, { operations, computerId })).map(({ id }) => id);
}

/** An id for a request of the server; from the series of activities, so that the ids are never equal. */
export async function nextOperationId(db: Sql): Promise<number> {
  const [row] = await db.query<{ id: number }>(`select nextval(pg_get_serial_sequence('activity', 'id'))::int as id`);
  return row!.id;
}

/** What an operation was created by, for spans of the gateway. */
export interface OperationTrace {
  id: number;
  batchId: number;
  traceparent: string;
  type: string;
}

/** Operations without a trace are missing. */
export function readOperationTraces(db: Sql, operations: readonly number[]): Promise<OperationTrace[]> {
  return db.query<OperationTrace>(TRACES, { operations }, 'gateway-read-traces');
}

const TRACES = `
  select m.activity_id as id, m.lane_id as "batchId", p.traceparent, p.message_type as type
  from agent_message m join operation_payload p on p.id = m.payload_id
  where m.activity_id = any(:operations::int[]) and p.traceparent is not null`;

// Not a prepared statement: a plan made while the inbox is empty would always read all of it.
const ENDED = `
  select a.id from activity a
  where a.id = any(:operations::int[]) and (a.status in ${statusList(FINAL_STATUSES)} or exists (
    select from agent_inbox i
    where i.lane_id = a.lane_id and i.activity_id = a.id and i.kind in ('result', 'gone')))`;

const READ = `
  select i.secure_id_hash, i.computer_id, c.account_id, c.title, c.tags, c.state, c.archived, ac.disabled,
    ac.max_message_backlog, s.version, s.in_next, s.out_base, s.out_next, s.token, s.request_digest, s.controls,
    s.head_tries, s.head_sends, s.client_types_digest, s.served_approved, s.resync_wanted, s.resync_id, s.resync_at,
    s.wanted_scopes, s.asked_scopes, s.asked_id, s.asked_at, s.last_sequence, s.last_address,
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
          where m.computer_id = i.computer_id and ${isDue('$2')}
            and (m.activity_id < ${firstUnqueued({ computer: 'i.computer_id', account: 'c.account_id', now: '$2' })}) is not false
          order by m.activity_id limit 100) n
      ) d where d.before < $3) as due
  from agent_identity i
  left join (agent s join computer c on c.id = s.computer_id join account ac on ac.id = c.account_id)
    on s.computer_id = i.computer_id
  where i.secure_id_hash = any($1::bytea[])`;
