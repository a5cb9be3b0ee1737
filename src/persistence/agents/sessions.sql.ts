import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import type { IntervalsState } from '../../domain/agents/intervals.ts';
import type { DueOperation, ResyncState, SentOperation, Session } from '../../domain/agents/session.ts';
import type { Sql } from '../database/sql.ts';
import { hasPendingEvent, statusList } from '../database/status-sql.ts';
import { firstUnqueued, isDue } from '../query/delivery-conditions.ts';
import { columnsOf } from './per-computer.ts';

/** Payloads of one response, in stored bytes; one operation is sent regardless of its size. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;

export type Identified = { kind: 'computer'; session: Session } | { kind: 'removed'; computerId: number };

export const WRITTEN = {
  inNext: 'bigint',
  outBase: 'bigint',
  outNext: 'bigint',
  token: 'uuid',
  requestDigest: 'bytea',
  controls: 'jsonb',
  headTries: 'smallint',
  headSends: 'smallint',
  clientTypesDigest: 'bytea',
  servedApproved: 'boolean',
  resyncWanted: 'boolean',
  resyncId: 'bigint',
  resyncAt: 'timestamptz',
  lastSequence: 'bigint',
  lastAddress: 'text',
};

type Stored =
  | ('computerId' | 'title' | 'tags' | 'archived' | 'accountDisabled' | 'maxBacklog' | 'preferredIntervals' | 'version')
  | keyof IntervalsState;

interface SessionRow extends Pick<Session, Stored | keyof typeof WRITTEN>, ResyncState {
  secureIdHash: Buffer;
  accountId: number | null;
  state: 'pending' | 'approved';
  sent: SentOperation[] | null;
  due: DueOperation[] | null;
}

/** Reads all data of exchanges in one snapshot, without locks; saving detects conflicts. @returns null for unknown */
export async function readSessions(
  db: Sql,
  secureIdHashes: readonly Buffer[],
  now: Date,
): Promise<Array<Identified | null>> {
  const parameters = { secureIdHashes, now, maxBytes: MAX_PAYLOAD_BYTES };
  const rows = await db.query<SessionRow>(READ, parameters, 'gateway-read-sessions');
  const byHash = new Map(rows.map((row) => [row.secureIdHash.toString('latin1'), row]));
  return secureIdHashes.map((hash) => {
    const row = byHash.get(hash.toString('latin1'));
    if (!row) return null;
    if (row.accountId === null) return { kind: 'removed', computerId: row.computerId };
    return { kind: 'computer', session: toSession(row, row.accountId) };
  });
}

function toSession(row: SessionRow, accountId: number): Session {
  const { secureIdHash: _, state, wantedScopes, requestedScopes, requestId, requestedAt, sent, due, ...rest } = row;
  return {
    ...rest,
    accountId,
    approved: state === 'approved' && !row.archived,
    resync: { wantedScopes, requestedScopes, requestId, requestedAt },
    sent: sent ?? [],
    due: due ?? [],
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
  const rows = await db.query<{ id: number }>(ENDED, { operations }, 'gateway-ended');
  return new Set(rows.map(({ id }) => id));
}

/** Those of these operations that belong to other computers. */
export async function findOperationsOfOthers(db: Sql, computerId: number, operations: readonly number[]) {
  const statement = 'select id from activity where id = any(:operations::int[]) and computer_id <> :computerId';
  return (await db.query<{ id: number }>(statement, { operations, computerId })).map(({ id }) => id);
}

/** An id for a request of the server; from the series of activities, so that the ids are never equal. */
export async function nextOperationId(db: Sql): Promise<number> {
  const [row] = await db.query<{ id: number }>(`select nextval(pg_get_serial_sequence('activity', 'id'))::int as id`);
  return row!.id;
}

interface OperationTrace {
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

const ENDED = `
  select a.id from activity a
  where a.id = any(:operations::int[])
    and (a.status in ${statusList(FINAL_STATUSES)} or ${hasPendingEvent('a.id', 'result', 'gone')})`;

const READ = `
  select i.secure_id_hash as "secureIdHash", i.computer_id as "computerId", c.account_id as "accountId", c.title, c.tags,
    c.state, c.archived, ac.disabled as "accountDisabled", ac.max_message_backlog as "maxBacklog", s.version,
    ac.agent_intervals as "preferredIntervals", s.intervals, s.polls_fast as "pollsFast", s.fast_at as "fastAt",
    ${Object.keys(WRITTEN)
      .map((name, i) => `s.${columnsOf(WRITTEN)[i]} as "${name}"`)
      .join(', ')},
    s.wanted_scopes as "wantedScopes", s.asked_scopes as "requestedScopes", s.asked_id as "requestId",
    s.asked_at as "requestedAt",
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
          where m.computer_id = i.computer_id and ${isDue(':now')}
            and (m.activity_id < ${firstUnqueued({ computer: 'i.computer_id', account: 'c.account_id', now: ':now' })}) is not false
          order by m.activity_id limit 100) n
      ) d where d.before < :maxBytes) as due
  from agent_identity i
  left join (agent s join computer c on c.id = s.computer_id join account ac on ac.id = c.account_id)
    on s.computer_id = i.computer_id
  where i.secure_id_hash = any(:secureIdHashes::bytea[])`;
