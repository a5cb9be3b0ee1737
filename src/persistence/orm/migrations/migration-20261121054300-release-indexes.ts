import { Migration } from '@mikro-orm/migrations';

/** Finds computers by their release in indexes where the many that are equal share an entry. */
export class Migration20261121054300ReleaseIndexes extends Migration {
  override up(): void {
    this.addSql('drop index computer_distribution');
    this.addSql('drop index computer_code_name');
    this.addSql('create index computer_distribution on computer (hashtextextended(lower(distribution), 0))');
    this.addSql(`create index computer_code_name on computer
      (hashtextextended(lower(distribution_info->>'code_name'), 0))`);
  }
}
