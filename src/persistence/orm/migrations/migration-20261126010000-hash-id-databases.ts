import { Migration } from '@mikro-orm/migrations';

/**
 * The ids of packages by their hashes, an SQLite file for each release, and all ids that it ever held. Ids of files that
 * are for all accounts count as sent to each of them, so a new account gets them, too.
 */
export class Migration20261126010000HashIdDatabases extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  `create table hash_id_database (
    code_name text primary key,
    account_id int references account on delete cascade,
    packages int4multirange not null,
    etag text not null,
    content bytea not null)`,
  `create index hash_id_database_account on hash_id_database (account_id)`,
  `create function assign_offered_packages() returns trigger language plpgsql as $$
  begin
    -- Who stores a file meanwhile does not see this account yet.
    lock table hash_id_database in share mode;
    insert into account_packages (account_id, known)
    select new.id, range_agg(packages) from hash_id_database where account_id is null having count(*) > 0;
    return null;
  end $$`,
  `create trigger account_offered_packages after insert on account
    for each row execute function assign_offered_packages()`,
];
