import { Migration } from '@mikro-orm/migrations';

/** Changes of an email address wait for their confirmation; addresses that people had before are free. */
export class Migration20261125050200EmailChanges extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // The token is random text of 238 bits: a plain digest of it cannot be searched for. Null where none was mailed.
  `create table email_change (
    person_id int primary key references person on delete cascade,
    email text not null,
    token_digest bytea,
    expires_at timestamptz not null)`,
  // The trigger on person gives up what is in person_address of the others.
  `update person set allowable_emails = array[email] where allowable_emails <> array[email]`,
];
