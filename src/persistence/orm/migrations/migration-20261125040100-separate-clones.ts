import { Migration } from '@mikro-orm/migrations';

/**
 * Identities that were given to several machines for one computer and are not its own, copies that were sent to register
 * as computers of their own, and what the event log says of a computer by itself, so that it says it once a day.
 */
export class Migration20261125040100SeparateClones extends Migration {
  override up(): void {
    this.addSql(`
      create table agent_spare_identity (
        secure_id_hash bytea primary key,
        computer_id int not null references computer on delete cascade,
        sent_away boolean not null default false,
        created_at timestamptz not null default now())`);
    this.addSql('create index agent_spare_identity_computer on agent_spare_identity (computer_id)');
    this.addSql('alter table agent add column copies_sent_away int not null default 0');
    this.addSql('alter table agent add column copies_sent_away_at timestamptz');
    this.addSql(`
      create table computer_notice (
        computer_id int not null references computer on delete cascade,
        notice text not null,
        noted_at timestamptz not null,
        primary key (computer_id, notice))`);
  }
}
