import { Migration } from '@mikro-orm/migrations';

/** Finds what is on no computer, reports and runs that found nothing to do, among all activities of an account. */
export class Migration20261122001000ChildlessActivities extends Migration {
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
  'drop index concurrently if exists activity_on_no_computer',
  `create index concurrently activity_on_no_computer on activity (account_id, id)
     where parent_id is null and computer_id is null and children_count = 0`,
];
