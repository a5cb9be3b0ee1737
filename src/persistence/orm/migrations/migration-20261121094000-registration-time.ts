import { Migration } from '@mikro-orm/migrations';

/** When agents registered by their own clocks, so that a registration that comes late is told from a new one. */
export class Migration20261121094000RegistrationTime extends Migration {
  override up(): void {
    this.addSql('alter table agent add column registered_at_agent bigint');
  }
}
