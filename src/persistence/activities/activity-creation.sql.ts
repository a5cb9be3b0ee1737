import { LOCK_EXCLUSIVE, lockValues } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';
import { ACTIVITIES, OUTBOX_CHANNEL } from './outbox.sql.ts';

/** Inserts the rows of a group by one of the statements below. */
export async function insertRows(tx: Sql, statement: string, values: object, name?: string): Promise<void> {
  await tx.query(statement, values, name);
}

/** Inserts one payload per position of the arrays; `fields` is JSON. @returns their ids, in the same order */
export async function insertPayloads(
  tx: Sql,
  values: {
    now: Date;
    traceparent: string | null;
    accountIds: number[];
    types: string[];
    fields: string[];
    answerSeconds: Array<number | null>;
    scriptIds: Array<number | null>;
  },
): Promise<number[]> {
  return (await tx.query<{ id: number }>(CREATE_PAYLOADS, values, 'create-payloads')).map(({ id }) => id);
}

/**
 * Ids of the next groups, ascending, one for each entry. Locks the groups of the accounts until commit: no operation
 * becomes visible after a higher id.
 */
export async function nextGroupIds(tx: Sql, accountIds: readonly number[]): Promise<number[]> {
  const values = { ...lockValues('acceptance', accountIds), count: accountIds.length };
  const rows = await tx.query<{ id: number }>(NEXT_GROUPS, values, 'next-group-ids');
  return rows.map(({ id }) => id);
}

// The locks have to come before the numbers.
const NEXT_GROUPS = `
  with locked as materialized (${LOCK_EXCLUSIVE})
  select nextval('activity_id_seq')::int as id from (select count(*) from locked) l cross join generate_series(1, :count::int)`;

const CREATE_PAYLOADS = `
  insert into operation_payload (account_id, message_type, fields, creation_time, answer_seconds, script_id, traceparent)
  select account_id, type, fields::jsonb, :now, answer_seconds, script_id, :traceparent
  from unnest(:accountIds::int[], :types::text[], :fields::text[], :answerSeconds::int[], :scriptIds::int[]) with ordinality
    as o(account_id, type, fields, answer_seconds, script_id, position)
  order by position
  returning id`;

const COMPUTERS = 'unnest(:computers::int[]) with ordinality as c(computer_id, place)';

const EVERYWHERE = `
  select c.computer_id, c.place, o.*, null::int as origin
  from ${COMPUTERS}
  cross join unnest(:types::text[], :summaries::text[], :payloads::bigint[], :afters::int[], :delays::int[], :spreads::int[]) with ordinality
    as o(type, summary, payload_id, after, delay, spread, link)
  order by c.place, o.link`;

const PER_COMPUTER = `
  select c.computer_id, o.*
  from unnest(:types::text[], :summaries::text[], :payloads::bigint[], :afters::int[], :delays::int[], :spreads::int[], :places::int[], :links::int[], :origins::int[])
    as o(type, summary, payload_id, after, delay, spread, place, link, origin)
  join ${COMPUTERS} using (place)
  order by o.place, o.link`;

// One row per new operation: every random time is drawn once, ids rise with computer and link.
const targets = (source: string) => `
  with target as materialized (
    select nextval('activity_id_seq')::int as id, s.*,
      ((s.place - 1) / :batchSize)::int + 1 as ordinal,
      coalesce(:deliverAfter::timestamptz, :now::timestamptz) + random() * make_interval(mins => :windowMinutes::int) as deliver_at
    from (${source}) s
  )`;

const BATCH_COLUMNS = `account_id, parent_id, wf_id, single, ordinal, size, open_count, has_dependents, summary, created_at,
      after_activity_id, answer_seconds`;

const positionsText = (from: string, to: string) => `'computers ' || to_char(${from}, 'FM999,999') || '-'
          || to_char(${to}, 'FM999,999') || ' of ' || to_char(cardinality(:computers::int[]), 'FM999,999')`;

const BATCHES = `
  , opened as (
    insert into lane (${BATCH_COLUMNS})
    select :accountId, :parent::int, :prefix || case when :alone then :parent::int::text when :single then min(t.id)::text else :parent::int || '/lane/' || t.ordinal end, :single,
      t.ordinal, count(*), count(*), bool_or(t.after is not null) or :afterActivity::int is not null,
      case when :single then min(t.summary) filter (where t.link = 1) || ' on ' || coalesce(min(c.title), 'computer ' || min(t.computer_id))
        else ${positionsText('min(t.place)', 'max(t.place)')} end, :now, :afterActivity::int,
      (select min(p.answer_seconds) from operation_payload p where p.id = any(:payloads::bigint[]))
    from target t left join computer c on :single and c.id = t.computer_id
    group by t.ordinal
    returning id, ordinal
  )`;

const COLUMNS = `id, account_id, parent_id, lane_id, computer_id, payload_id, type, summary, status, creator_id,
      creation_time, deliver_after_time, deliver_delay_window, deliver_at, blocked_by, delay_seconds, reapplied_from,
      reverts, after_activity_id`;

const origin = (group: string) => `case when ${group}::int is not null then t.origin end`;

const operations = (chained: boolean) => `
    select t.id, :accountId::int, :parent::int, l.id, t.computer_id, t.payload_id, t.type, t.summary,
      case when t.after is null and :afterActivity::int is null then 'undelivered' else 'waiting' end, :creatorId::int, :now::timestamptz,
      case when t.after is null and (:deliverAfter::timestamptz is not null or :windowMinutes::int > 0) then t.deliver_at end,
      case when t.after is null then :windowMinutes::int else t.spread / 60 end,
      case when t.after is null then t.deliver_at end, ${chained ? 'b.id' : 'null::int'},
      t.delay + floor(random() * (t.spread + 1))::int, ${origin(':reappliedFrom')}, ${origin(':reverts')},
      case when t.after is null then :afterActivity::int end
    from target t join opened l using (ordinal)
    ${chained ? 'left join target b on b.place = t.place and b.link = t.after' : ''}`;

const PARENT_COLUMNS = `id, account_id, type, summary, status, creator_id, creation_time, deliver_after_time,
    deliver_delay_window, deliver_at, parameters, reapplied_from, reverts, after_activity_id, child_types,
    children_count, computer_count, open_count`;

const createGroupText = (source: string, chained: boolean) => `
  ${targets(source)} ${BATCHES}, children as (
    insert into activity (${COLUMNS})
    ${operations(chained)}
  )
  insert into activity (${PARENT_COLUMNS})
  select :parent::int, :accountId::int, :type, :summary, 'undelivered', :creatorId::int, :now::timestamptz, :deliverAfter::timestamptz, :windowMinutes::int,
    case when :afterActivity::int is null then min(deliver_at) filter (where after is null) end, :parameters::jsonb, :reappliedFrom, :reverts, :afterActivity::int, array(select distinct unnest(:types::text[])),
    count(*), cardinality(:computers::int[]), count(*)
  from target`;

// Without chains the search for the previous link would cost a sort of all rows.
export const CREATE_GROUP = createGroupText(EVERYWHERE, false);
export const CREATE_CHAINED_GROUP = createGroupText(EVERYWHERE, true);
export const CREATE_PER_COMPUTER_GROUP = createGroupText(PER_COMPUTER, true);

// For one operation for all at one time, in large batches: rows are not materialized, a fifth to a third faster.
export const CREATE_UNIFORM_GROUP = `
  with opened as (
    insert into lane (${BATCH_COLUMNS})
    select :accountId::int, :parent::int, :prefix || :parent::int || '/lane/' || k.ordinal, false, k.ordinal, k.size, k.size, false,
      ${positionsText('k.skipped + 1', 'k.skipped + k.size')}, :now::timestamptz, null,
      (select p.answer_seconds from operation_payload p where p.id = :payload::bigint)
    from (
      select skipped / :batchSize::int + 1 as ordinal, skipped, least(:batchSize::int, cardinality(:computers::int[]) - skipped) as size
      from generate_series(0, cardinality(:computers::int[]) - 1, :batchSize::int) as skipped) k
    returning id, ordinal
  ), children as (
    insert into activity (${COLUMNS})
    select nextval('activity_id_seq')::int, :accountId::int, :parent::int,
      (array(select id from opened order by ordinal))[(c.place - 1) / :batchSize::int + 1], c.computer_id, :payload::bigint, :operationType, :operationSummary,
      'undelivered', :creatorId::int, :now::timestamptz, :deliverAfter::timestamptz, 0, coalesce(:deliverAfter::timestamptz, :now::timestamptz), null, 0,
      null, null, null
    from ${COMPUTERS}
  )
  insert into activity (${PARENT_COLUMNS})
  select :parent::int, :accountId::int, :type, :summary, 'undelivered', :creatorId::int, :now::timestamptz, :deliverAfter::timestamptz, 0,
    coalesce(:deliverAfter::timestamptz, :now::timestamptz), :parameters::jsonb, :reappliedFrom, :reverts, null, array[:operationType], n, n, n
  from cardinality(:computers::int[]) as n`;

/**
 * Many groups of a few computers, each with its own batch. Also queues the messages that are due, so that computers get
 * them before the workflows start, and adds the commands that start these and notifies dispatchers. A group without
 * computers has succeeded.
 */
export const CREATE_SMALL_GROUPS = `
  with plan as materialized (
    select * from unnest(:groups::int[], :accountIds::int[], :creatorIds::int[], :groupTypes::text[], :groupSummaries::text[], :parameters::text[], :counts::int[])
      as g(parent, account, creator, type, summary, parameters, computers)
  ), batch as materialized (
    select nextval('lane_id_seq')::int as lane, m.*
    from unnest(:batchGroups::int[], :computers::int[], :places::int[]) as m(parent, computer_id, place)
  ), target as materialized (
    select *, (array_agg(id) over (partition by lane order by link))[after] as blocked_by
    from (
      select nextval('activity_id_seq')::int as id, s.*
      from (
        select b.*, g.account, g.creator, g.computers, o.link, o.type, o.summary, o.payload_id, o.after, o.delay, o.spread
        from plan g join batch b using (parent) join unnest(:operationGroups::int[], :links::int[], :types::text[], :summaries::text[],
          :payloads::bigint[], :afters::int[], :delays::int[], :spreads::int[]) as o(parent, link, type, summary, payload_id, after, delay, spread) using (parent)
        order by b.parent, b.place, o.link) s) t
  ), opened as (
    insert into lane (id, ${BATCH_COLUMNS})
    select t.lane, t.account, t.parent, :prefix::text || case when t.computers = 1 then t.parent else min(t.id) end, true, t.place, count(*), count(*),
      bool_or(t.after is not null), min(t.summary) filter (where t.link = 1) || ' on ' || coalesce(c.title, 'computer ' || t.computer_id),
      :now::timestamptz, null, min(p.answer_seconds)
    from target t join operation_payload p on p.id = t.payload_id left join computer c on c.id = t.computer_id
    group by t.lane, t.account, t.parent, t.computers, t.place, t.computer_id, c.title
  ), children as (
    insert into activity (${COLUMNS})
    select id, account, parent, lane, computer_id, payload_id, type, summary, case when after is null then 'undelivered' else 'waiting' end,
      creator, :now::timestamptz, null, case when after is null then 0 else spread / 60 end, case when after is null then :now::timestamptz end, blocked_by,
      delay + floor(random() * (spread + 1))::int, null, null, null
    from target
    returning id, lane_id, computer_id, payload_id, status
  ), messages as (
    insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at)
    select id, lane_id, computer_id, payload_id, 'queued', :now::timestamptz from children where status = 'undelivered'
  ), commands as (
    insert into outbox (kind, key, traceparent, creation_time, account_id)
    select 'start', parent::text, :traceparent::text, :now::timestamptz, account from plan
  )
  insert into activity (${PARENT_COLUMNS}, modification_time, completion_time)
  select g.parent, g.account, g.type, g.summary, case when g.computers = 0 then 'succeeded' else 'undelivered' end, g.creator,
    :now::timestamptz, null, 0, case when g.computers > 0 then :now::timestamptz end, g.parameters::jsonb, null, null, null,
    coalesce(t.types, '{}'), coalesce(t.operations, 0), g.computers, coalesce(t.operations, 0),
    case when g.computers = 0 then :now::timestamptz end, case when g.computers = 0 then :now::timestamptz end
  from plan g left join (
    select parent, array_agg(distinct type) as types, count(*) as operations from target group by parent) t using (parent)
  returning pg_notify('${OUTBOX_CHANNEL}', '${ACTIVITIES}')`;
