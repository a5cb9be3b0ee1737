import { Migration } from '@mikro-orm/migrations';

/**
 * What was cancelled counted as success of its group, as its delivery, and as failure of its audit. Groups and audits of
 * that time read as those that come after them.
 */
export class Migration20261125010000CanceledResults extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // The groups are locked by a statement before the one that looks at their operations: lanes may be moving them.
  `do $$
  declare
    suspects int[];
  begin
    suspects := array(
      select g.id from activity g
      where g.computer_id is null and g.canceled_count + g.failed_count > 0
        and (g.status = 'succeeded' or (g.delivery_time is not null and g.delivered_count + g.succeeded_count = 0))
      order by g.id for update);
    update activity g set status = 'canceled'
    where g.id = any(suspects) and g.status = 'succeeded' and g.open_count = 0 and g.failed_count = 0;
    update activity g set delivery_time = null, status = case when g.open_count = 0 then g.status else coalesce((
      select k.status from activity k where k.parent_id = g.id and k.status in ('unapproved', 'blocked')
      order by k.status desc limit 1), 'undelivered') end
    where g.id = any(suspects) and not exists (
      select from activity k where k.parent_id = g.id and k.delivery_time is not null);
  end $$`,
  // An audit that failed has a failed step, a report or a reason.
  `with locked as materialized (
    select u.computer_id, u.profile_id, u.run_id from usg_audit u join usg_run r on r.id = u.run_id
    where u.state = 'fail' and u.reported_at is null and u.reason is null
      and exists (
        select from activity k
        where k.computer_id = u.computer_id and k.parent_id + 0 = r.activity_id and k.status = 'canceled')
      and not exists (
        select from activity k
        where k.computer_id = u.computer_id and k.parent_id + 0 = r.activity_id and k.status not in ('succeeded', 'canceled'))
    order by u.run_id, u.computer_id for update of u
  ), corrected as (
    update usg_audit u set state = 'not-started' from locked l
    where u.computer_id = l.computer_id and u.profile_id = l.profile_id and u.run_id = l.run_id
    returning u.run_id
  )
  update usg_run r set failing_count = r.failing_count - c.audits, not_started_count = r.not_started_count + c.audits
  from (select run_id, count(*)::int as audits from corrected group by run_id) c where r.id = c.run_id`,
];
