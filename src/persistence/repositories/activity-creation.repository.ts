import type { ActivitySettings } from '../../config.ts';
import { ACTIVITY_WORKFLOW_PREFIX } from '../../domain/activity/workflow-id.ts';
import type { Sql } from '../sql.ts';

/** What every computer of a group does once; several of them make several operations per computer. */
export interface OperationTemplate {
  type: string;
  summary: string;
  /** Sent to the agent; stored once for all computers. */
  message: { type: string; fields: Readonly<Record<string, unknown>> };
  /** Index of the template whose success on the same computer this one waits for; null: at once. */
  after?: number | null;
  /** Seconds between that success and delivery. */
  delaySeconds?: number;
  /** A uniform random part of this many seconds is added to the delay, for each computer its own. */
  delaySpreadSeconds?: number;
}

export interface GroupPlan {
  accountId: number;
  /** Null for work that nobody asked for. */
  creatorId: number | null;
  type: string;
  summary: string;
  now: Date;
  /** Earliest delivery; null: at once. */
  deliverAfter: Date | null;
  /** Each computer waits a uniform random time of at most this many minutes on top. */
  windowMinutes: number;
  /** Distinct computers, checked by the caller. */
  computers: readonly number[];
  operations: readonly OperationTemplate[];
  /** What was asked for, for showing and repeating it. */
  parameters?: Readonly<Record<string, unknown>>;
  reappliedFrom?: number | null;
  reverts?: number | null;
  /** W3C trace context of the request, continued by the workflow. */
  traceparent?: string | null;
}

export type LaneSettings = Pick<ActivitySettings, 'singleLaneLimit' | 'laneMinSize' | 'laneMaxSize'>;

/**
 * Creates a group: parent, lanes, operations, payloads and the order to start its workflow.
 *
 * @returns id of the parent
 * @remarks Five statements whatever the number of computers. Part of the caller's transaction; the relay is told at
 * its commit.
 * @see temporal-design 3
 */
export async function createGroup(tx: Sql, plan: GroupPlan, settings: LaneSettings): Promise<number> {
  const payloads = await createPayloads(tx, plan.accountId, plan.operations, plan.now);
  const [row] = await tx.query<{ id: number }>(`select nextval('activity_id_seq')::int as id`);
  const parent = row!.id;
  const single = plan.computers.length <= settings.singleLaneLimit;
  const chained = plan.operations.some(({ after }) => typeof after === 'number');
  await tx.query(chained ? CREATE_CHAINED_GROUP : CREATE_GROUP, [
    ...operationArrays(plan, payloads),
    single ? 1 : laneSize(plan.computers.length, settings),
    single,
    parent,
    plan.type,
    plan.summary,
    JSON.stringify(plan.parameters ?? {}),
    plan.reappliedFrom ?? null,
    plan.reverts ?? null,
  ]);
  await orderStart(tx, parent, plan);
  return parent;
}

export type SinglePlan = Omit<GroupPlan, 'computers' | 'operations' | 'type' | 'summary'> & {
  computer: number;
  operation: OperationTemplate;
};

/**
 * Creates an operation on one computer that belongs to no group; its lane is the top workflow.
 *
 * @returns id of the operation
 */
export async function createOperation(tx: Sql, plan: SinglePlan): Promise<number> {
  const { computer, operation, ...rest } = plan;
  const group: GroupPlan = {
    ...rest,
    type: operation.type,
    summary: operation.summary,
    computers: [computer],
    operations: [{ ...operation, after: null }],
  };
  const payloads = await createPayloads(tx, plan.accountId, group.operations, plan.now);
  const [row] = await tx.query<{ id: number }>(CREATE_SINGLE, [
    ...operationArrays(group, payloads),
    1,
    true,
    plan.parameters === undefined ? null : JSON.stringify(plan.parameters),
    plan.reappliedFrom ?? null,
    plan.reverts ?? null,
  ]);
  await orderStart(tx, row!.id, plan);
  return row!.id;
}

/** Computers per lane of a large group. @see temporal-design 1, decision 2 */
export function laneSize(computers: number, settings: LaneSettings): number {
  return Math.min(settings.laneMaxSize, Math.max(settings.laneMinSize, Math.ceil(computers / 10)));
}

async function createPayloads(tx: Sql, accountId: number, operations: readonly OperationTemplate[], now: Date) {
  const rows = await tx.query<{ id: number }>(CREATE_PAYLOADS, [
    accountId,
    operations.map(({ message }) => message.type),
    operations.map(({ message }) => JSON.stringify(message.fields)),
    now,
  ]);
  return rows.map(({ id }) => id);
}

async function orderStart(tx: Sql, key: number, plan: { traceparent?: string | null; now: Date }): Promise<void> {
  await tx.query(`insert into outbox (kind, key, traceparent, creation_time) values ('start', $1, $2, $3)`, [
    String(key),
    plan.traceparent ?? null,
    plan.now,
  ]);
  await tx.query(`select pg_notify('flotilla_outbox', '')`);
}

/** The first thirteen parameters of {@link TARGETS}. */
function operationArrays(plan: GroupPlan, payloads: readonly number[]): unknown[] {
  const { operations } = plan;
  return [
    plan.computers,
    operations.map(({ type }) => type),
    operations.map(({ summary }) => summary),
    payloads,
    operations.map(({ after }) => (typeof after === 'number' ? after + 1 : null)),
    operations.map(({ delaySeconds }) => delaySeconds ?? 0),
    operations.map(({ delaySpreadSeconds }) => delaySpreadSeconds ?? 0),
    plan.accountId,
    plan.creatorId,
    plan.now,
    plan.deliverAfter,
    plan.windowMinutes,
    ACTIVITY_WORKFLOW_PREFIX,
  ];
}

const CREATE_PAYLOADS = `
  insert into operation_payload (account_id, message_type, fields, creation_time)
  select $1, type, fields::jsonb, $4
  from unnest($2::text[], $3::text[]) with ordinality as o(type, fields, position) order by position
  returning id`;

// One row per operation to be: every random moment is drawn once, ids rise with computer and step.
const TARGETS = `
  with target as materialized (
    select nextval('activity_id_seq')::int as id, s.*,
      ((s.place - 1) / $14)::int + 1 as ordinal,
      coalesce($11::timestamptz, $10::timestamptz) + random() * make_interval(mins => $12::int) as deliver_at
    from (
      select c.computer_id, c.place, o.*
      from unnest($1::int[]) with ordinality as c(computer_id, place)
      cross join unnest($2::text[], $3::text[], $4::bigint[], $5::int[], $6::int[], $7::int[]) with ordinality
        as o(type, summary, payload_id, after, delay, spread, step)
      order by c.place, o.step
    ) s
  )`;

const laneWorkflow = (parent: string | null) =>
  parent === null
    ? `$13 || min(t.id)`
    : `$13 || case when $15 then min(t.id)::text else ${parent} || '/lane/' || t.ordinal end`;

const lanes = (parent: string | null) => `
  , opened as (
    insert into lane (account_id, parent_id, wf_id, single, ordinal, size, open_count, has_dependents, summary, created_at)
    select $8, ${parent ?? 'null'}, ${laneWorkflow(parent)}, $15, t.ordinal, count(*), count(*), bool_or(t.after is not null),
      case when $15 then min(t.summary) filter (where t.step = 1) || ' on ' || coalesce(min(c.title), 'computer ' || min(t.computer_id))
        else 'computers ' || to_char(min(t.place), 'FM999,999') || '-' || to_char(max(t.place), 'FM999,999')
          || ' of ' || to_char(cardinality($1::int[]), 'FM999,999') end, $10
    from target t left join computer c on $15 and c.id = t.computer_id
    group by t.ordinal
    returning id, ordinal
  )`;

const COLUMNS = `id, account_id, parent_id, lane_id, computer_id, payload_id, type, summary, status, creator_id,
      creation_time, deliver_after_time, deliver_delay_window, deliver_at, blocked_by, delay_seconds`;

const operations = (parent: string | null, chained: boolean) => `
    select t.id, $8::int, ${parent ?? 'null::int'}, l.id, t.computer_id, t.payload_id, t.type, t.summary,
      case when t.after is null then 'undelivered' else 'waiting' end, $9::int, $10::timestamptz,
      case when t.after is null and ($11::timestamptz is not null or $12::int > 0) then t.deliver_at end, $12::int,
      case when t.after is null then t.deliver_at end, ${chained ? 'b.id' : 'null::int'},
      t.delay + floor(random() * (t.spread + 1))::int
    from target t join opened l using (ordinal)
    ${chained ? 'left join target b on b.place = t.place and b.step = t.after' : ''}`;

const createGroupText = (chained: boolean) => `
  ${TARGETS} ${lanes('$16::int')}, children as (
    insert into activity (${COLUMNS})
    ${operations('$16::int', chained)}
  )
  insert into activity (id, account_id, type, summary, status, creator_id, creation_time, deliver_after_time,
    deliver_delay_window, deliver_at, parameters, reapplied_from, reverts, child_types, children_count,
    computer_count, open_count)
  select $16::int, $8::int, $17, $18, 'undelivered', $9::int, $10::timestamptz, $11::timestamptz, $12::int,
    min(deliver_at) filter (where after is null), $19::jsonb, $20, $21, array(select distinct unnest($2::text[])),
    count(*), cardinality($1::int[]), count(*)
  from target`;

// Without chains the search for the step before would cost a sort of everything.
const CREATE_GROUP = createGroupText(false);
const CREATE_CHAINED_GROUP = createGroupText(true);

const CREATE_SINGLE = `
  ${TARGETS} ${lanes(null)}
  insert into activity (${COLUMNS}, parameters, reapplied_from, reverts)
  select o.*, $16::jsonb, $17::int, $18::int from (${operations(null, false)}) o
  returning id`;
