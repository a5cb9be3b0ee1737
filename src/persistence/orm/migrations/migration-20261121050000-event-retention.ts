import { Migration } from '@mikro-orm/migrations';

/** Lets old lines of the event log go, by one function and no other way. */
export class Migration20261121050000EventRetention extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

// The mark holds while the function runs and nowhere else. Ids grow with time, so the oldest lines are at the start of
// the primary key: no further index to keep.
const STATEMENTS = [
  `drop trigger event_append_only on event`,
  `create trigger event_append_only before update or truncate on event
    for each statement execute function refuse_event_change()`,
  `create function refuse_event_removal() returns trigger language plpgsql as $$
    begin
      if coalesce(current_setting('flotilla.forgets_events', true), '') <> 'on'
        or exists (select 1 from gone where creation_time > now() - interval '1 day') then
        raise exception 'the event log is append-only';
      end if;
      return null;
    end $$`,
  `create trigger event_kept after delete on event referencing old table as gone
    for each statement execute function refuse_event_removal()`,
  `create function forget_events(keep_days int, most int) returns int language sql
    set flotilla.forgets_events = 'on' as $$
      with due as (select id from event
          where id in (select id from event order by id limit most)
            and creation_time < now() - make_interval(days => greatest(keep_days, 1))
          for update skip locked),
        forgotten as (delete from event using due where event.id = due.id returning 1)
      select count(*)::int from forgotten $$`,
];
