import { Migration } from '@mikro-orm/migrations';

/** Finds old activities by age, and what points at an activity that goes, without a search. */
export class Migration20261121062000ActivityRetention extends Migration {
  override up(): void {
    // Columns that are fixed when the row is made: updates stay HOT.
    this.addSql('create index activity_age on activity (creation_time, id) where parent_id is null');
    this.addSql('create index activity_reapplied_from on activity (reapplied_from) where reapplied_from is not null');
    this.addSql('create index activity_reverts on activity (reverts) where reverts is not null');
  }
}
