import { Migration } from '@mikro-orm/migrations';

/** Lists of activities ask for computers that were put away: few among many, most often none. */
export class Migration20261121055000ArchivedComputers extends Migration {
  override up(): void {
    this.addSql('create index computer_archived on computer (account_id, id) where archived');
  }
}
