import { Migration } from '@mikro-orm/migrations';

/** Time zones of profiles. */
export class Migration20261125030000ProfileTimezones extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  `alter table usg_profile add column timezone text not null default 'UTC'`,
  // Where the schedule on the server holds single dates, as of cron text in a time zone: the last of them.
  `alter table script_profile add column timezone text not null default 'UTC', add column planned_until timestamptz`,
];
