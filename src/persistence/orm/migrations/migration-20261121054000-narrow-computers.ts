import { Migration } from '@mikro-orm/migrations';

/**
 * Keeps what is only shown out of the rows of computers, so that what is searched and counted fits on few pages and an
 * update does not write the reports of tools again. Holds for rows as they are written from now on.
 */
export class Migration20261121054000NarrowComputers extends Migration {
  override up(): void {
    for (const column of SEARCHED) this.addSql(`alter table computer alter column ${column} set storage main`);
    this.addSql(`alter table computer set (toast_tuple_target = 768)`);
  }
}

/** Stay in the row whatever the others take: selectors read them of every computer. */
const SEARCHED = [
  'title',
  'hostname',
  'tags',
  'annotations',
  'distribution_info',
  'cloud_instance_metadata',
  'cloud_init',
  'machine_id',
  'hostagent_uid',
];
