import { Migration } from '@mikro-orm/migrations';

/** Which packages the computers of each account were told of: others they may not name, and so not be shown. */
export class Migration20261122002000AccountPackages extends Migration {
  override up(): void {
    this.addSql(`
      create table account_packages (
        account_id int primary key references account on delete cascade,
        known int4multirange not null)`);
  }
}
