import { Migration } from '@mikro-orm/migrations';

/** Where a computer exchanged last and with which number, and when it was last in doubt that it is one machine. */
export class Migration20261125080100DoubtedIdentities extends Migration {
  override up(): void {
    this.addSql('alter table agent add column last_address text, add column last_sequence bigint');
    this.addSql('alter table computer_status add column doubted_at timestamptz, add column doubt text');
  }
}
