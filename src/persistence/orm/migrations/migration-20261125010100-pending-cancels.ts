import { Migration } from '@mikro-orm/migrations';

/** Finds cancels that were accepted and are not carried out yet, however many results wait beside them. */
export class Migration20261125010100PendingCancels extends Migration {
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
  'drop index concurrently if exists agent_inbox_cancel',
  `create index concurrently agent_inbox_cancel on agent_inbox (lane_id, activity_id) where kind = 'cancel'`,
];
