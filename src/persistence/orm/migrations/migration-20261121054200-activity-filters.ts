import { Migration } from '@mikro-orm/migrations';

/**
 * Finds and counts activities by type, creator, computer and time. Only by what never changes, so that updates stay HOT; without
 * ids in the keys of types and makers, so that equal ones share an entry: a large insert is a fifth dearer.
 */
export class Migration20261121054200ActivityFilters extends Migration {
  override up(): void {
    this.addSql('create index activity_type on activity (account_id, type)');
    this.addSql('create index activity_creator on activity (account_id, creator_id)');
    // The groups of a computer's operations without a look at the operations.
    this.addSql('drop index activity_computer');
    this.addSql(
      'create index activity_computer on activity (computer_id, id) include (parent_id) where computer_id is not null',
    );
    // Rows are stored in the order of their time.
    this.addSql(`create index activity_created on activity using brin (creation_time)
      with (pages_per_range = 32, autosummarize)`);
  }
}
