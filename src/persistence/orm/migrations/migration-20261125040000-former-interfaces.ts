import { Migration } from '@mikro-orm/migrations';

/** In which order interfaces went, so that of the former ones those seen last are remembered. */
export class Migration20261125040000FormerInterfaces extends Migration {
  override up(): void {
    this.addSql('alter table computer_network add column left_order int');
  }
}
