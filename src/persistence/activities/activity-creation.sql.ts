// Statements of activity-creation.repository.ts; all but CREATE_PAYLOADS and CREATE_UNIFORM_GROUP share their first
// twenty-two parameters.

export const CREATE_PAYLOADS = `
  insert into operation_payload (account_id, message_type, fields, creation_time, answer_seconds, script_id, traceparent)
  select :accountId, type, fields::jsonb, :now, answer_seconds, script_id, :traceparent
  from unnest(:types::text[], :fields::text[], :answerSeconds::int[], :scriptIds::int[]) with ordinality
    as o(type, fields, answer_seconds, script_id, position)
  order by position
  returning id`;

const COMPUTERS = 'unnest($1::int[]) with ordinality as c(computer_id, place)';

const EVERYWHERE = `
  select c.computer_id, c.place, o.*, null::int as origin
  from ${COMPUTERS}
  cross join unnest($2::text[], $3::text[], $4::bigint[], $5::int[], $6::int[], $7::int[]) with ordinality
    as o(type, summary, payload_id, after, delay, spread, link)
  order by c.place, o.link`;

const PER_COMPUTER = `
  select c.computer_id, o.*
  from unnest($2::text[], $3::text[], $4::bigint[], $5::int[], $6::int[], $7::int[], $23::int[], $24::int[], $25::int[])
    as o(type, summary, payload_id, after, delay, spread, place, link, origin)
  join ${COMPUTERS} using (place)
  order by o.place, o.link`;

// One row per new operation: every random time is drawn once, ids rise with computer and link.
const targets = (source: string) => `
  with target as materialized (
    select nextval('activity_id_seq')::int as id, s.*,
      ((s.place - 1) / $14)::int + 1 as ordinal,
      coalesce($11::timestamptz, $10::timestamptz) + random() * make_interval(mins => $12::int) as deliver_at
    from (${source}) s
  )`;

const BATCH_COLUMNS = `account_id, parent_id, wf_id, single, ordinal, size, open_count, has_dependents, summary, created_at,
      after_activity_id, answer_seconds`;

const positionsText = (from: string, to: string) => `'computers ' || to_char(${from}, 'FM999,999') || '-'
          || to_char(${to}, 'FM999,999') || ' of ' || to_char(cardinality($1::int[]), 'FM999,999')`;

const BATCHES = `
  , opened as (
    insert into lane (${BATCH_COLUMNS})
    select $8, $16::int, $13 || case when $15 then min(t.id)::text else $16::int || '/lane/' || t.ordinal end, $15,
      t.ordinal, count(*), count(*), bool_or(t.after is not null) or $22::int is not null,
      case when $15 then min(t.summary) filter (where t.link = 1) || ' on ' || coalesce(min(c.title), 'computer ' || min(t.computer_id))
        else ${positionsText('min(t.place)', 'max(t.place)')} end, $10, $22::int,
      (select min(p.answer_seconds) from operation_payload p where p.id = any($4::bigint[]))
    from target t left join computer c on $15 and c.id = t.computer_id
    group by t.ordinal
    returning id, ordinal
  )`;

const COLUMNS = `id, account_id, parent_id, lane_id, computer_id, payload_id, type, summary, status, creator_id,
      creation_time, deliver_after_time, deliver_delay_window, deliver_at, blocked_by, delay_seconds, reapplied_from,
      reverts, after_activity_id`;

// Operations with an origin reference it by the same column as their group does.
const origin = (group: string) => `case when ${group}::int is not null then t.origin end`;

const operations = (chained: boolean) => `
    select t.id, $8::int, $16::int, l.id, t.computer_id, t.payload_id, t.type, t.summary,
      case when t.after is null and $22::int is null then 'undelivered' else 'waiting' end, $9::int, $10::timestamptz,
      case when t.after is null and ($11::timestamptz is not null or $12::int > 0) then t.deliver_at end,
      case when t.after is null then $12::int else t.spread / 60 end,
      case when t.after is null then t.deliver_at end, ${chained ? 'b.id' : 'null::int'},
      t.delay + floor(random() * (t.spread + 1))::int, ${origin('$20')}, ${origin('$21')},
      case when t.after is null then $22::int end
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
  select $16::int, $8::int, $17, $18, 'undelivered', $9::int, $10::timestamptz, $11::timestamptz, $12::int,
    case when $22::int is null then min(deliver_at) filter (where after is null) end, $19::jsonb, $20, $21, $22::int, array(select distinct unnest($2::text[])),
    count(*), cardinality($1::int[]), count(*)
  from target`;

// Without chains the search for the previous link would cost a sort of all rows.
export const CREATE_GROUP = createGroupText(EVERYWHERE, false);
export const CREATE_CHAINED_GROUP = createGroupText(EVERYWHERE, true);
export const CREATE_PER_COMPUTER_GROUP = createGroupText(PER_COMPUTER, true);

// CREATE_GROUP for one operation without its own delay, the same for all at one time, in batches of many: rows are
// computed as they are written and not materialized. A large insert takes a fifth to a third less.
export const CREATE_UNIFORM_GROUP = `
  with opened as (
    insert into lane (${BATCH_COLUMNS})
    select $5::int, $11::int, $9 || $11::int || '/lane/' || k.ordinal, false, k.ordinal, k.size, k.size, false,
      ${positionsText('k.skipped + 1', 'k.skipped + k.size')}, $7::timestamptz, null,
      (select p.answer_seconds from operation_payload p where p.id = $4::bigint)
    from (
      select skipped / $10::int + 1 as ordinal, skipped, least($10::int, cardinality($1::int[]) - skipped) as size
      from generate_series(0, cardinality($1::int[]) - 1, $10::int) as skipped) k
    returning id, ordinal
  ), children as (
    insert into activity (${COLUMNS})
    select nextval('activity_id_seq')::int, $5::int, $11::int,
      (array(select id from opened order by ordinal))[(c.place - 1) / $10::int + 1], c.computer_id, $4::bigint, $2, $3,
      'undelivered', $6::int, $7::timestamptz, $8::timestamptz, 0, coalesce($8::timestamptz, $7::timestamptz), null, 0,
      null, null, null
    from ${COMPUTERS}
  )
  insert into activity (${PARENT_COLUMNS})
  select $11::int, $5::int, $12, $13, 'undelivered', $6::int, $7::timestamptz, $8::timestamptz, 0,
    coalesce($8::timestamptz, $7::timestamptz), $14::jsonb, $15, $16, null, array[$2], n, n, n
  from cardinality($1::int[]) as n`;
