import { draw } from './plan.ts';

/*
 * The statements of the activity generator, all with the parameters seed, now, account, rows, computers, first activity,
 * first batch and first payload.
 */

const OPERATORS = 12;

/** Types with their share, the agents' message, their objects and the summaries of group and operation. */
const KINDS = [
  {
    type: 'InstallSnaps',
    share: 0.18,
    message: 'install-snaps',
    group: 'Install snaps on computer',
    one: 'Install snap',
  },
  {
    type: 'RefreshSnaps',
    share: 0.1,
    message: 'refresh-snaps',
    group: 'Refresh snaps on computer',
    one: 'Refresh snap',
  },
  { type: 'RemoveSnaps', share: 0.04, message: 'remove-snaps', group: 'Remove snaps on computer', one: 'Remove snap' },
  { type: 'ChangePackagesRequest', share: 0.3, message: 'change-packages', group: 'Upgrade packages', one: 'Upgrade' },
  { type: 'ExecuteScriptRequest', share: 0.18, message: 'execute-script', group: 'Run script', one: 'Run script' },
  { type: 'RestartRequest', share: 0.08, message: 'reboot', group: 'Restart computer', one: 'Restart computer' },
  {
    type: 'UpgradeKernelPackageRequest',
    share: 0.07,
    message: 'change-packages',
    group: 'Upgrade kernel package',
    one: 'Upgrade kernel',
  },
  {
    type: 'SignalProcessRequest',
    share: 0.05,
    message: 'signal-process',
    group: 'Signal processes with TERM',
    one: 'Signal process',
  },
];
const THINGS = [
  'hello',
  'firefox',
  'lxd',
  'openssl',
  'curl',
  'nginx',
  'postgresql-17',
  'linux-image-generic',
  'inventory',
  'cleanup',
];

const textArray = (items: readonly string[]) => `'{${items.map((item) => `"${item}"`).join(',')}}'::text[]`;
const kind = (key: 'type' | 'message' | 'group' | 'one') => `(${textArray(KINDS.map((one) => one[key]))})[g.kind]`;
const bounds = KINDS.map((_, i) =>
  KINDS.slice(0, i + 1)
    .reduce((sum, { share }) => sum + share, 0)
    .toFixed(3),
);
const THING = `(${textArray(THINGS)})[1 + floor(power(g.thing, 2) * ${THINGS.length})::int]`;

/** People who request activities, some far more than others. */
export const CREATE_OPERATORS = `
  with operator as (
    insert into person (name, email, allowable_emails, identity)
    select 'Operator ' || k, 'operator-' || k || '@fleet.example', array['operator-' || k || '@fleet.example'],
      'operator-' || k || '@fleet.example'
    from generate_series(1, ${OPERATORS}) k
    where not exists (select from person p where lower(p.email) = 'operator-' || k || '@fleet.example')
    returning id)
  insert into membership (account_id, person_id) select $3, id from operator`;

// Seven of ten are for one computer, one in five hundred for a large part of the fleet. The last group takes the rest.
export const PLAN_GROUPS = `
  create temporary table planned_group on commit drop as
  with people as (
    select array_agg(id order by id) as ids from person where email like 'operator-%@fleet.example'
  ), drawn as (
    select n, least(cardinality($5::int[]), case when ${draw(500)} < 0.1 then 0 when ${draw(500)} < 0.8 then 1
        when ${draw(500)} < 0.97 then 2 + floor(${draw(501)} * 24)::int
        when ${draw(500)} < 0.998 then 26 + floor(${draw(501)} * 175)::int
        else floor(500 * power(20, ${draw(501)}))::int end) as size,
      1 + width_bucket(${draw(502)}, array[${bounds.slice(0, -1).join(', ')}]::float8[]) as kind, ${draw(503)} as thing,
      ${draw(504)} as fate, floor(${draw(505)} * cardinality($5::int[]))::int as start, ${draw(506)} as person,
      ${draw(507)} as openness, ${draw(508)} as timing
    from generate_series(0, greatest(10, $4::int / 4)) n
  ), placed as (
    select d.*, (sum(size + 1) over (order by n) - size - 1)::int as before from drawn d
  )
  select n, p.kind, thing, fate, start, timing, before,
    least(size, $4::int - before - 1) as size, $6::int + before as id, $8::bigint + n as payload_id,
    people.ids[1 + floor(power(person, 2.5) * cardinality(people.ids))::int] as creator_id,
    date_trunc('second', $2::timestamptz - make_interval(secs => 31536000 * (1 - before::float8 / $4::int))) as created_at,
    before >= $4::int * 0.99 and openness < 0.6 as is_open,
    before >= $4::int * 0.99 and openness < 0.15 as is_scheduled,
    case when least(size, $4::int - before - 1) <= 25 then 1 else greatest(500, least(5000, ceil(size / 10.0)::int)) end as batch_size
  from placed p cross join people where before < $4::int order by n`;

// An operation without a group is its own only child.
export const PLAN_CHILDREN = `
  create temporary table planned_child on commit drop as
  with child as (
    select g.*, k, g.id + case when g.size = 0 then 0 else k end as child_id, g.before + k as place
    from planned_group g cross join lateral generate_series(1, greatest(1, g.size)) k
  ), fated as (
    select c.*, ${draw(600, 'place')} as chance, ${draw(601, 'place')} as delay from child c
  )
  select n, k, child_id as id, id as parent_id, size, payload_id, creator_id, created_at, is_scheduled,
    ($5::int[])[1 + (start + k - 1) % cardinality($5::int[])] as computer_id,
    (k - 1) / batch_size + 1 as ordinal, batch_size = 1 as single,
    dense_rank() over (order by id, (k - 1) / batch_size) + $7::int - 1 as lane_id,
    case when is_scheduled then 'undelivered'
      when is_open then case when chance < 0.3 then 'succeeded' when chance < 0.33 then 'failed'
        when chance < 0.6 then 'delivered' else 'undelivered' end
      when fate < 0.02 then 'canceled' when fate < 0.05 then 'failed'
      when chance < 0.93 then 'succeeded' when chance < 0.98 then 'failed' else 'canceled' end as status,
    -- Most are delivered within minutes; computers that were switched off get theirs days later.
    created_at + make_interval(secs => least(case when delay < 0.97 then 2 + delay * 300 else delay * 200000 end,
      greatest(2, extract(epoch from $2::timestamptz - created_at) / 3))) as delivered_at,
    created_at + make_interval(secs => least(case when delay < 0.97 then 5 + delay * 900 else delay * 210000 end,
      greatest(3, extract(epoch from $2::timestamptz - created_at) / 2))) as ended_at
  from fated order by n, k`;

export const PARENTS = `
  create temporary table planned_parent on commit drop as
  select parent_id as id, count(*)::int as children,
    (count(*) filter (where status in ('undelivered', 'delivered')))::int as open,
    (count(*) filter (where status = 'delivered'))::int as delivered,
    (count(*) filter (where status = 'succeeded'))::int as succeeded,
    (count(*) filter (where status = 'failed'))::int as failed,
    (count(*) filter (where status = 'canceled'))::int as canceled, max(ended_at) as ended_at,
    min(delivered_at) filter (where status <> 'canceled') as delivered_at
  from planned_child group by parent_id`;

export const PAYLOADS = `
  with payload as (select g.*, ${THING} as name from planned_group g)
  insert into operation_payload (id, account_id, message_type, fields, creation_time)
  select g.payload_id, $3, ${kind('message')}, jsonb_build_object('name', g.name), g.created_at from payload g order by g.n`;

export const BATCHES = `
  with batch_of as (
    select lane_id, min(parent_id) as parent_id, min(size) as size, bool_and(single) as single, min(ordinal) as ordinal,
      min(id) as child, count(*)::int as members,
      (count(*) filter (where status in ('undelivered', 'delivered')))::int as open,
      (count(*) filter (where status = 'succeeded'))::int as succeeded,
      (count(*) filter (where status = 'failed'))::int as failed,
      (count(*) filter (where status = 'canceled'))::int as canceled,
      min(created_at) as created_at, max(ended_at) as ended_at
    from planned_child group by lane_id
  )
  insert into lane (id, account_id, parent_id, wf_id, single, ordinal, size, open_count, succeeded_count, failed_count,
    canceled_count, summary, created_at, opened_at, closed_at, next_due_at)
  select lane_id, $3, case when size > 0 then parent_id end,
    'activity/' || case when single then child::text else parent_id || '/lane/' || ordinal end, single, ordinal, members,
    open, succeeded, failed, canceled, 'computers of activity ' || parent_id, created_at, created_at + interval '1 second',
    case when open = 0 then ended_at end, case when open > 0 then created_at + interval '30 days' end
  from batch_of order by lane_id`;

const ENDED = `('succeeded', 'failed', 'canceled')`;
const NAMED = `${kind('one')} || case when g.kind in (6, 8) then '' else ' ' || ${THING} end`;
const CHANGES = `case when g.kind = 4 and c.status = 'succeeded' then jsonb_build_array(jsonb_build_object('package', ${THING},
        'type', 'upgrade', 'complemented', false, 'install_version', '2.' || g.n % 40, 'remove_version', '1.' || g.n % 40))
      else '[]' end`;

/** Groups and operations in the order of their ids, as if created one after another. */
export const ROWS = `
  with operation as (
    select c.id, case when c.size > 0 then c.parent_id end as parent_id, c.lane_id, c.computer_id, c.payload_id, ${kind('type')} as type,
      ${NAMED} as summary, c.status, c.creator_id, c.created_at,
      case when c.status in ${ENDED} then c.ended_at when c.status = 'delivered' then c.delivered_at end as modified_at,
      case when c.status in ${ENDED} then c.ended_at end as ended_at,
      case when c.status not in ('undelivered', 'canceled') then c.delivered_at end as delivered_at,
      case when c.is_scheduled then $2::timestamptz + interval '6 hours' end as deliver_after,
      case when c.is_scheduled then $2::timestamptz + interval '6 hours' else c.created_at end as deliver_at,
      case when c.status = 'failed' then 100 + g.n % 2 end as result_code,
      case when c.status = 'failed' then 'E: ' || ${THING} || ' could not be changed: held by another process'
        when c.status = 'succeeded' and g.kind = 5 then 'done' end as result_text,
      case when g.kind in (4, 7) then array[1 + g.n % 300] else '{}'::int[] end as package_ids, ${CHANGES} as changes,
      '{}'::text[] as child_types, 0 as children, 0 as computers, 0 as open, 0 as delivered, 0 as succeeded, 0 as failed, 0 as canceled
    from planned_child c join planned_group g using (n)
  ), parent as (
    select g.id, null::int, null::int, null::int, null::bigint, 'ActivityGroup', ${kind('group')},
      case when p.open > 0 then case when p.delivered + p.succeeded + p.failed + p.canceled > 0 then 'delivered' else 'undelivered' end
        when p.canceled = p.children then 'canceled' when p.failed > 0 then 'failed' else 'succeeded' end,
      g.creator_id, g.created_at, p.ended_at, case when p.open = 0 then p.ended_at end, p.delivered_at,
      case when g.is_scheduled then $2::timestamptz + interval '6 hours' end,
      case when g.is_scheduled then $2::timestamptz + interval '6 hours' else g.created_at end,
      null::int, null, '{}'::int[], '[]'::jsonb, array[${kind('type')}], p.children, p.children, p.open, p.delivered,
      p.succeeded, p.failed, p.canceled
    from planned_group g join planned_parent p on p.id = g.id where g.size > 0
  )
  insert into activity (id, parent_id, lane_id, computer_id, payload_id, type, summary, status, creator_id, creation_time,
    modification_time, completion_time, delivery_time, deliver_after_time, deliver_at, result_code, result_text, package_ids,
    changes, child_types, children_count, computer_count, open_count, delivered_count, succeeded_count, failed_count,
    canceled_count, account_id)
  select a.*, $3 from (select * from operation union all select * from parent) a order by id`;

export const MESSAGES = `
  with message as (select c.*, case when c.is_scheduled then $2::timestamptz + interval '6 hours' else c.created_at end as at
    from planned_child c)
  insert into agent_message (activity_id, lane_id, computer_id, payload_id, state, deliver_at, sent_at, send_count)
  select id, lane_id, computer_id, payload_id, case status when 'undelivered' then 'queued' when 'delivered' then 'sent'
      when 'canceled' then 'withdrawn' else 'acked' end, at,
    case when status not in ('undelivered', 'canceled') then delivered_at end,
    case when status in ('undelivered', 'canceled') then 0 else 1 end
  from message order by id`;

/** What a running stack needs to drive the open ones. */
export const OPENING = `
  with waiting as (select p.id, g.created_at from planned_parent p join planned_group g on g.id = p.id where p.open > 0)
  insert into outbox (kind, key, creation_time) select 'start', id::text, created_at from waiting order by id`;
