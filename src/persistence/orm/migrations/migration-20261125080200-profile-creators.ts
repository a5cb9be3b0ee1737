import { Migration } from '@mikro-orm/migrations';

/**
 * The alert about profiles whose creators left: since when they are gone, a number of the same series as other alerts
 * for each account, and who dismissed it when. In tables of its own, as processes of the build before know every row of
 * `alert` by name.
 */
export class Migration20261125080200ProfileCreators extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  `create table former_member (
    account_id int not null references account on delete cascade,
    person_id int not null references person on delete cascade,
    left_at timestamptz not null,
    primary key (account_id, person_id))`,
  `create index former_member_person on former_member (person_id)`,
  `create table profile_alert (
    id int primary key default nextval(pg_get_serial_sequence('alert', 'id')),
    account_id int not null unique references account on delete cascade)`,
  `create table profile_alert_dismissal (
    alert_id int not null references profile_alert on delete cascade,
    person_id int not null references person on delete cascade,
    dismissed_at timestamptz not null,
    primary key (alert_id, person_id))`,
  `create index profile_alert_dismissal_person on profile_alert_dismissal (person_id)`,
  `create function number_profile_alert() returns trigger language plpgsql as $$
  begin
    insert into profile_alert (account_id) values (new.id);
    return null;
  end $$`,
  // By its name after the one that numbers the other alerts.
  `create trigger account_profile_alert after insert on account for each row execute function number_profile_alert()`,
  `insert into profile_alert (account_id) select id from account order by id`,
];
