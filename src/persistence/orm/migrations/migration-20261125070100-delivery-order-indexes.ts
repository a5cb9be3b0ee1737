import { Migration } from '@mikro-orm/migrations';

/** Finds lanes without messages, behind whose operations others of the same computers wait, and lanes of what follows. */
export class Migration20261125070100DeliveryOrderIndexes extends Migration {
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
  'drop index concurrently if exists lane_unopened',
  'create index concurrently lane_unopened on lane (account_id, parent_id) where opened_at is null',
  'drop index concurrently if exists lane_after',
  `create index concurrently lane_after on lane (after_activity_id)
     where after_activity_id is not null and closed_at is null`,
];
