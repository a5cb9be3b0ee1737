import { Migration } from '@mikro-orm/migrations';

/** Who made a saved search; null for those that were made before. */
export class Migration20261125080000SearchOwners extends Migration {
  override up(): void {
    this.addSql('alter table saved_search add column creator_id int');
  }
}
