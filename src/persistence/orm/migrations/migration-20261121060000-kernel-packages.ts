import { Migration } from '@mikro-orm/migrations';

/** Finds the few kernel packages among all packages, and keeps what is known of the fixes in a version. */
export class Migration20261121060000KernelPackages extends Migration {
  override up(): void {
    this.addSql(`create index package_kernel on package (id) where name like 'linux-image-%'`);
    this.addSql(`
      create table package_fix (
        package_name text not null,
        package_version text not null,
        name text not null,
        release_date date not null,
        summary text not null,
        cves text[] not null default '{}',
        primary key (package_name, package_version))`);
  }
}
