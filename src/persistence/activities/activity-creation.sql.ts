import { TRANSACTION_LOCKS } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/** Inserts the rows of a group by one of the statements below. */
export async function insertRows(tx: Sql, statement: string, values: object): Promise<void> {
  await tx.query(statement, values);
}

/** Inserts one payload per position of the arrays; `fields` is JSON. @returns their ids, in the same order */
export async function insertPayloads(
  tx: Sql,
  values: {
    accountId: number;
    now: Date;
    traceparent: string | null;
    types: string[];
    fields: string[];
    answerSeconds: Array<number | null>;
    scriptIds: Array<number | null>;
  },
): Promise<number[]> {
  return (await tx.query<{ id: number }>(CREATE_PAYLOADS, values)).map(({ id }) => id);
}

/** Id of the next group. Locks the account's groups until commit: no operation becomes visible after a higher id. */
export async function nextGroupId(tx: Sql, accountId: number): Promise<number> {
  const [row] = await tx.query<{ id: number }>(NEXT_GROUP, { acceptance: TRANSACTION_LOCKS.acceptance, accountId });
  return row!.id;
}

// The lock has to come before the number.
const NEXT_GROUP = `select nextval('activity_id_seq')::int as id from pg_advisory_xact_lock(:acceptance::int, :accountId::int)`;

const CREATE_PAYLOADS = `
  insert into operation_payload (account_id, message_type, fields, creation_time, answer_seconds, script_id, traceparent)
  select :accountId, type, fields::jsonb, :now, answer_seconds, script_id, :traceparent
  from unnest(:types::text[], :fields::text[], :answerSeconds::int[], :scriptIds::int[]) with ordinality
    as o(type, fields, answer_seconds, script_id, position)
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
