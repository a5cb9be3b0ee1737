import { Migration } from '@mikro-orm/migrations';

/** The events of activities read their common position once for each statement, not for each event. */
export class Migration20261130020000EventPositions extends Migration {
  override up(): void {
    for (const statement of FUNCTIONS) this.addSql(statement);
  }
}

// Replacing a function also replaces its settings: see the migration of event plans.
const FUNCTIONS = [
  `create or replace function note_created_activities() returns trigger language plpgsql as $$
  begin
    insert into cloud_event (position, account_id, type, activity_id, computer_id, data)
    select (select event_position()), account_id, 'activity.created', id, computer_id,
      jsonb_build_object('activity_type', type, 'summary', summary, 'activity_status', status, 'creator_id', creator_id)
    from added where parent_id is null order by id;
    insert into cloud_event (position, account_id, type, activity_id, computer_id, data)
    select (select event_position()), account_id, 'alert.raised', coalesce(parent_id, id), computer_id,
      jsonb_build_object('alert_type', 'UnapprovedActivitiesAlert')
    from added where needed_approval and computer_id is not null order by id;
    return null;
  end $$`,
  `create or replace function note_changed_activities() returns trigger language plpgsql set enable_nestloop = off as $$
  begin
    if not exists (select from changed n join former o on o.id = n.id where o.status <> n.status) then
      return null;
    end if;
    insert into cloud_event (position, account_id, type, activity_id, computer_id, data)
    select (select event_position()), c.account_id, c.event_type, coalesce(c.parent_id, c.id), c.computer_id,
      case when c.parent_id is null then jsonb_build_object('activity_type', c.type, 'summary', c.summary,
          'activity_status', c.status, 'succeeded', c.succeeded_count, 'failed', c.failed_count,
          'canceled', c.canceled_count)
        else jsonb_build_object('operation_id', c.id, 'activity_type', c.type, 'activity_status', c.status,
          'result_code', c.result_code) end
    from (
      select n.*, case
        when n.parent_id is not null then case
          when n.status in ('succeeded', 'failed', 'canceled') then 'operation.ended'
          when n.status = 'delivered' then 'operation.delivered' end
        when n.status in ('succeeded', 'failed', 'canceled') then 'activity.ended'
        when n.status = 'delivered' then 'activity.started'
        when o.status = 'unapproved' then 'activity.approved' end as event_type
      from changed n join former o on o.id = n.id where o.status <> n.status) c
    where c.event_type is not null order by c.id;
    if exists (select from changed where parent_id is null and status in ('succeeded', 'failed', 'canceled')) then
      perform pg_notify('flotilla_events', '');
    end if;
    insert into cloud_event (position, account_id, type, activity_id, computer_id, data)
    select (select event_position()), n.account_id, 'alert.resolved', coalesce(n.parent_id, n.id), n.computer_id,
      jsonb_build_object('alert_type', 'UnapprovedActivitiesAlert')
    from changed n join former o on o.id = n.id
    where n.needed_approval and n.computer_id is not null and o.status = 'unapproved' and n.status <> 'unapproved'
    order by n.id;
    return null;
  end $$`,
];
