import { Migration } from '@mikro-orm/migrations';

/** Every address a person has or had is theirs alone; a person's recent test mails are remembered. */
export class Migration20261121050100Addresses extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

// Where two people hold one address, it stays with the one whose present address it is.
const STATEMENTS = [
  `alter table person add column test_mail_times timestamptz[] not null default '{}'`,
  `create table person_address (
    address text constraint person_address_taken primary key,
    person_id int not null references person on delete cascade)`,
  `create index person_address_person on person_address (person_id)`,
  `insert into person_address (address, person_id) select lower(email), id from person`,
  `insert into person_address (address, person_id)
    select lower(e.email), p.id from person p cross join unnest(p.allowable_emails) e(email) order by p.id
    on conflict do nothing`,
  `update person p set allowable_emails = array(
      select e.email from unnest(p.allowable_emails) with ordinality e(email, place)
        join person_address a on a.address = lower(e.email) and a.person_id = p.id order by e.place)`,
  `create function keep_person_addresses() returns trigger language plpgsql as $$
    declare held text[] := array(select distinct lower(e) from unnest(new.email || new.allowable_emails) e);
    begin
      delete from person_address where person_id = new.id and address <> all (held);
      insert into person_address (address, person_id)
        select e, new.id from unnest(held) e
        where not exists (select from person_address a where a.address = e and a.person_id = new.id)
        order by e;
      return null;
    end $$`,
  `create trigger person_addresses after insert or update of email, allowable_emails on person
    for each row execute function keep_person_addresses()`,
];
