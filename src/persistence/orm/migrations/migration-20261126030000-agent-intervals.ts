import { Migration } from '@mikro-orm/migrations';

/**
 * Intervals of agents: those that an account wants, those that each computer was sent, and who may poll fast. And how
 * far a new computer is with requesting the ids of its packages, in percent.
 */
export class Migration20261126030000AgentIntervals extends Migration {
  override up(): void {
    this.addSql('alter table account add column agent_intervals jsonb');
    this.addSql(`alter table agent add column intervals jsonb, add column polls_fast boolean not null default false,
      add column fast_at timestamptz`);
    this.addSql('alter table computer_inventory add column packages_requested smallint');
  }
}
