import { Migration } from '@mikro-orm/migrations';

/** Access keys, tokens given back before their time, and who operates the whole system. */
export class Migration20261121002000AccessKeys extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // The secret is random text of 238 bits: a plain digest of it cannot be searched for.
  `create table access_key (
    account_id int not null,
    person_id int not null,
    access_key text not null unique,
    secret_digest bytea not null,
    creation_time timestamptz not null default now(),
    primary key (account_id, person_id),
    foreign key (account_id, person_id) references membership on delete cascade)`,
  `create table revoked_token (
    token_id text primary key,
    expires_at timestamptz not null)`,
  `create index revoked_token_expires_at on revoked_token (expires_at)`,
  `alter table person add column operator boolean not null default false`,
];
