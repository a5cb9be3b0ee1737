import { Migration } from '@mikro-orm/migrations';

/** The date each script profile waits for, and those that wait for enrolments. */
export class Migration20261121081000ScriptDue extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // The first date of the trigger that was not dealt with yet: behind the clock, it was missed.
  `alter table script_profile add column due_at timestamptz`,
  `create index script_profile_due on script_profile (due_at) where due_at is not null and not archived`,
  `create index script_profile_enrolment on script_profile (account_id) where trigger_type = 'event' and not archived`,
];
