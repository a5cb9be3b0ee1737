import { Migration } from '@mikro-orm/migrations';

/** How far the reconciler has come, in the database as well as on the Temporal server: the older of both was restored. */
export class Migration20261121110000ReconcilerMark extends Migration {
  override up(): void {
    this.addSql(`create table reconciler_mark (
      singleton boolean primary key default true check (singleton),
      mark bigint not null
    )`);
    this.addSql('insert into reconciler_mark (mark) values (0)');
  }
}
