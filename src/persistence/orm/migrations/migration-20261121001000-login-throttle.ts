import { Migration } from '@mikro-orm/migrations';

/** Failed logins of the last hour, and where each name has logged in from; for the throttle. */
export class Migration20261121001000LoginThrottle extends Migration {
  override up(): void {
    this.addSql(`create table login_failure (
      name_digest bytea not null,
      address text not null,
      at timestamptz not null default now())`);
    this.addSql(`create index login_failure_name on login_failure (name_digest, at)`);
    this.addSql(`create index login_failure_at on login_failure (at)`);
    this.addSql(`create table login_address (
      name_digest bytea not null,
      address text not null,
      last_success timestamptz not null default now(),
      primary key (name_digest, address))`);
  }
}
