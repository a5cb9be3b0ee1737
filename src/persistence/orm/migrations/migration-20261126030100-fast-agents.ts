import { Migration } from '@mikro-orm/migrations';

/** Counts the computers that may poll fast, and finds them. */
export class Migration20261126030100FastAgents extends Migration {
  /** Built beside writers, which a transaction around it does not allow. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // An attempt that was interrupted leaves an index that is not valid.
    this.addSql('drop index concurrently if exists agent_fast');
    this.addSql('create index concurrently agent_fast on agent (computer_id) where fast_at is not null');
  }
}
