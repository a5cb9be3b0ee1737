import { Migration } from '@mikro-orm/migrations';

/** Has operations of one activity wait for another. */
export class Migration20261125070000DeliveryOrder extends Migration {
  override up(): void {
    this.addSql('alter table activity add column after_activity_id int');
    this.addSql('alter table lane add column after_activity_id int, add column awaited boolean not null default false');
  }
}
