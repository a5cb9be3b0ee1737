import { Migration } from '@mikro-orm/migrations';

/**
 * Kinds of facts that agents are to report afresh, and the latest request for some: beside those of the packages alone,
 * which processes of the build before know.
 */
export class Migration20261125040200WantedFacts extends Migration {
  override up(): void {
    this.addSql(`
      alter table agent add column wanted_scopes text[] not null default '{}',
        add column asked_scopes text[] not null default '{}', add column asked_id bigint,
        add column asked_at timestamptz`);
  }
}
