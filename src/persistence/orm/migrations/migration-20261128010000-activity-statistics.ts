import { Migration } from '@mikro-orm/migrations';

/**
 * Groups and batches have one operation or thousands. With the average of a few large ones, the planner looks for the first
 * operation of a small one by reading activities in the order of their ids, from the oldest of all accounts. With five
 * rows for each, it uses the indexes of groups and batches. A negative number is a share of all rows.
 * @remarks Analyzed only if it has rows. Once analyzed, an empty table counts as one page: plans made before the next
 *   analysis, and kept, read all of it.
 */
export class Migration20261128010000ActivityStatistics extends Migration {
  override up(): void {
    this.addSql('alter table activity alter column parent_id set (n_distinct = -0.2)');
    this.addSql('alter table activity alter column lane_id set (n_distinct = -0.2)');
    this.addSql(`
      do $$ begin
        if exists (select from activity) then analyze activity (parent_id, lane_id); end if;
      end $$`);
  }
}
