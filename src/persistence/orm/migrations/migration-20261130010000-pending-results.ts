import { Migration } from '@mikro-orm/migrations';

/** Finds the result that waits for an operation, however many events wait for its batch. */
export class Migration20261130010000PendingResults extends Migration {
  /** Built beside writers, which a transaction around it does not allow. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // An attempt that was interrupted leaves an index that is not valid.
  'drop index concurrently if exists agent_inbox_operation',
  `create index concurrently agent_inbox_operation on agent_inbox (activity_id) where kind <> 'delivered'`,
];
