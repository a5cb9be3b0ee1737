import { Migration } from '@mikro-orm/migrations';

/** Holds of several snaps of which one was held already counted as holds that had changed nothing. */
export class Migration20261123001000HoldsOfSome extends Migration {
  override up(): void {
    this.addSql(`
      update snap_operation_before b set idle = false
      from activity a join operation_payload p on p.id = a.payload_id
      where a.id = b.activity_id and b.idle and p.message_type = 'hold-snaps' and exists (
        select from jsonb_array_elements(p.fields -> 'snaps') e
        where b.snaps ->> (e.value ->> 'name') is distinct from coalesce(e.value #>> '{args,time}', 'forever'))`);
  }
}
