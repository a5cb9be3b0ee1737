import { Migration } from '@mikro-orm/migrations';

/** Lets activities point at what repeated and undid them, and keeps how snaps stood before operations changed them. */
export class Migration20261121061100ActivityLinks extends Migration {
  override up(): void {
    this.addSql('alter table activity add column reapplied_by int, add column reverted_by int');
    // Like the other parts of results: without foreign keys, taken away with their computer.
    this.addSql(`
      create table snap_operation_before (
        activity_id int primary key,
        computer_id int not null,
        snaps jsonb not null,
        idle boolean not null)`);
    this.addSql('create index snap_operation_before_computer on snap_operation_before (computer_id)');
    this.addSql(`
      create function remove_snap_operations() returns trigger language plpgsql as $$
      begin
        delete from snap_operation_before where computer_id = old.id;
        return null;
      end $$`);
    this.addSql(`
      create trigger computer_snap_operations_removal after delete on computer
      for each row execute function remove_snap_operations()`);
  }
}
