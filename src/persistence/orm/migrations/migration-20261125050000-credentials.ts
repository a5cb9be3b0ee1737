import { Migration } from '@mikro-orm/migrations';

/** Access keys as they are now: several of a person for an account, each with a name and, where wanted, an end. */
export class Migration20261125050000Credentials extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

// Processes of the build before know one pair per person and account, in access_key. Until they have ended, what they
// make there is mirrored, and what is removed here is removed there.
const STATEMENTS = [
  `create table credential (
    access_key text primary key,
    account_id int not null,
    person_id int not null,
    name text not null,
    secret_digest bytea not null,
    creation_time timestamptz not null default now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    constraint credential_name unique (person_id, account_id, name),
    foreign key (account_id, person_id) references membership on delete cascade)`,
  `create function mirror_access_key() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        delete from credential where access_key = old.access_key;
      end if;
      insert into credential (access_key, account_id, person_id, name, secret_digest, creation_time)
        select new.access_key, new.account_id, new.person_id,
          case when exists (select from credential c
              where c.person_id = new.person_id and c.account_id = new.account_id and c.name = 'Access key')
            then new.access_key else 'Access key' end,
          new.secret_digest, new.creation_time
        on conflict do nothing;
      return null;
    end $$`,
  `create trigger access_key_mirrored after insert or update on access_key
    for each row execute function mirror_access_key()`,
  `insert into credential (access_key, account_id, person_id, name, secret_digest, creation_time)
    select access_key, account_id, person_id, 'Access key', secret_digest, creation_time from access_key`,
  `create function forget_access_key() returns trigger language plpgsql as $$
    begin
      delete from access_key where access_key = old.access_key;
      return null;
    end $$`,
  `create trigger credential_forgotten after delete on credential
    for each row execute function forget_access_key()`,
];
