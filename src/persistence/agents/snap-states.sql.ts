import type { InstalledSnap, OperationResult } from '../../domain/agents/facts.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { Sql } from '../database/sql.ts';
import { hasPendingEvent, withoutPendingIndex } from '../database/status-sql.ts';
import { arraysOf, type PerComputer, unnest } from './per-computer.ts';

const UNDOABLE = ['install-snaps', 'hold-snaps', 'unhold-snaps'];
const CHANGING = [...UNDOABLE, 'remove-snaps'];
/** Maximum operations, before and after the last sent one, that are searched for unfinished ones. */
const MAX_LOOKED_AT = 200;

/** Whether an undo needs the snaps' former state. @see docs/api-conventions.md#cancel-approve-reapply-revert */
export function needsSnapState(messageType: string): boolean {
  return UNDOABLE.includes(messageType);
}

/**
 * Saves the snaps' state when operations are sent (again, if the agent never got them), after this exchange's facts:
 * reports come only on change, not always with the result. Nothing without known snaps; what unfinished earlier
 * operations change is unknown. @see docs/agent-protocol.md#facts
 */
export async function saveSnapsBeforeSent(tx: Sql, operations: readonly number[]): Promise<void> {
  await tx.query(SAVE_BEFORE_SENT, { operations }, 'gateway-snaps-before-sent');
}

/** As {@link saveSnapsBeforeSent}, for successes without a state (older releases); before their report is saved. */
export async function saveSnapsBeforeResults(tx: Sql, reports: ReadonlyArray<PerComputer<ReportedSnaps>>) {
  const done = resultsWithSnaps(reports).filter(({ ok }) => ok);
  if (done.length > 0) await tx.query(SAVE_BEFORE_RESULTS, arraysOf('r', RESULT_KEYS, done), 'gateway-snaps-before');
}

/**
 * Replaces saved states by the one reported with a result, for later operations on its snaps without a result: the
 * agent had both at once. Call it after the report is saved. Effects of later operations in it are not undone;
 * operations whose results came in one payload keep the state from when they were sent.
 */
export async function updateSnapsBetweenResults(tx: Sql, reports: ReadonlyArray<PerComputer<ReportedSnaps>>) {
  const results = resultsWithSnaps(reports);
  if (results.length > 0) await tx.query(UPDATE_BETWEEN, arraysOf('r', RESULT_KEYS, results), 'gateway-snaps-between');
}

interface ReportedSnaps {
  snaps: readonly InstalledSnap[] | null;
  results: readonly OperationResult[];
}

const RESULT_KEYS = { computerId: 'int', operationId: 'int' };

function resultsWithSnaps(reports: ReadonlyArray<PerComputer<ReportedSnaps>>) {
  return reports.flatMap(({ computerId, value: { snaps, results } }) =>
    snaps === null
      ? []
      : results
          .filter(({ operationId }) => operationId >= 1 && operationId <= MAX_INT4)
          .map(({ operationId, ok }) => ({ computerId, operationId, ok })),
  );
}

const among = (types: readonly string[]) => `(${types.map((type) => `'${type}'`).join(', ')})`;

// An operation that changed nothing has nothing to undo.
const IDLE = `case p.message_type when 'install-snaps' then s.name is not null
      when 'hold-snaps' then s.held_until is not distinct from coalesce(e.value #>> '{args,time}', 'forever')
      else s.held_until is null end`;

const NAMED = `jsonb_array_elements(p.fields -> 'snaps') e
  left join computer_snap s on s.computer_id = m.computer_id and s.name = e.value ->> 'name'`;

const BEFORE = `
  select coalesce(jsonb_object_agg(s.name, s.held_until) filter (where s.name is not null), '{}') as snaps,
    bool_and(${IDLE}) is true as idle
  from ${NAMED}`;

// The changes of unfinished earlier operations are unknown: their snaps count as in `inverseOf`.
const UNKNOWN = `coalesce(case p.message_type when 'install-snaps' then a.removes else a.holds end < m.position, false)`;

const BEFORE_WITH_UNFINISHED = `
  select coalesce(jsonb_object_agg(e.value ->> 'name', case when ${UNKNOWN} then 'forever' else s.held_until end)
      filter (where case when ${UNKNOWN} then p.message_type = 'unhold-snaps' else s.name is not null end), '{}') as snaps,
    bool_and(not ${UNKNOWN} and ${IDLE}) is true as idle
  from ${NAMED}
  left join ahead a on a.computer_id = m.computer_id and a.name = e.value ->> 'name'`;

const INSERT = `
  insert into snap_operation_before (activity_id, computer_id, snaps, idle)
  select m.activity_id, m.computer_id, before.snaps, before.idle`;

const noResultYet = (message: string) => `not ${hasPendingEvent(`${message}.activity_id`, 'result')}`;

// A canceled operation may still be running on its computer. Newer operations can overtake scheduled ones.
const SAVE_BEFORE_SENT = `
  with m as materialized (
    select m.activity_id, m.computer_id, m.position, m.payload_id
    from unnest(:operations::int[]) r(id) join agent_message m on m.activity_id = r.id join activity a on a.id = m.activity_id
    where ${withoutPendingIndex("m.state = 'sent'")} and a.status in ('undelivered', 'delivered') and ${noResultYet('m')}
      and exists (select from computer_snap known where known.computer_id = m.computer_id)
  ), ahead as materialized (
    select c.computer_id, x.value ->> 'name' as name, min(o.position) filter (where q.message_type = 'remove-snaps') as removes,
      min(o.position) filter (where q.message_type <> 'install-snaps') as holds
    from (select computer_id, max(activity_id) as last from m group by computer_id) c
    cross join lateral (
      (select id, status, completion_time from activity
        where computer_id = c.computer_id and id <= c.last order by id desc limit ${MAX_LOOKED_AT})
      union all
      (select y.id, y.status, y.completion_time from activity y join agent_message h on h.activity_id = y.id
        where y.computer_id = c.computer_id and y.id > c.last and h.state in ('sent', 'acked')
          and y.status in ('undelivered', 'delivered', 'canceled')
        order by y.id desc limit ${MAX_LOOKED_AT})) r
    join agent_message o on o.activity_id = r.id join operation_payload q on q.id = o.payload_id
    cross join lateral jsonb_array_elements(q.fields -> 'snaps') x
    where (r.status in ('undelivered', 'delivered')
        or (r.status = 'canceled' and r.completion_time > now() - interval '1 hour'))
      and o.state in ('sent', 'acked') and q.message_type in ${among(CHANGING)} and ${noResultYet('o')}
    group by c.computer_id, x.value ->> 'name'
  )
  ${INSERT}
  from m join operation_payload p on p.id = m.payload_id
  cross join lateral (${BEFORE_WITH_UNFINISHED}) before
  where p.message_type in ${among(UNDOABLE)}
  on conflict (activity_id) do update set snaps = excluded.snaps, idle = excluded.idle`;

// Most have a state already: looked up before it would be computed, in a scalar for the reason of `hasPendingEvent`.
const SAVE_BEFORE_RESULTS = `${INSERT}
  from ${unnest('r', RESULT_KEYS)}
  join agent_message m on m.activity_id = r.operation_id and m.computer_id = r.computer_id
  join operation_payload p on p.id = m.payload_id
  cross join lateral (${BEFORE}) before
  where p.message_type in ${among(UNDOABLE)} and m.state in ('sent', 'acked', 'dropped')
    and (select true from snap_operation_before b where b.activity_id = m.activity_id) is null
  on conflict (activity_id) do nothing`;

const UPDATE_BETWEEN = `
  with completed as (
    select m.computer_id, m.activity_id, m.position, p.fields
    from ${unnest('r', RESULT_KEYS)}
    join agent_message m on m.activity_id = r.operation_id and m.computer_id = r.computer_id
    join operation_payload p on p.id = m.payload_id
    where p.message_type in ${among(CHANGING)} and m.state in ('sent', 'acked', 'dropped')
  )
  update snap_operation_before b set snaps = before.snaps, idle = before.idle
  from agent_message m join operation_payload p on p.id = m.payload_id join activity a on a.id = m.activity_id
  cross join lateral (${BEFORE}) before
  where b.computer_id in (select computer_id from completed) and b.activity_id <> all(:r_operationId::int[])
    and m.activity_id = b.activity_id and m.state in ('sent', 'acked') and a.status in ('undelivered', 'delivered')
    and ${noResultYet('m')}
    and exists (
      select from completed o, jsonb_array_elements(o.fields -> 'snaps') x, jsonb_array_elements(p.fields -> 'snaps') y
      where o.computer_id = m.computer_id and o.position < m.position and x.value ->> 'name' = y.value ->> 'name')`;
