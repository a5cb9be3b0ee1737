import { Migration } from '@mikro-orm/migrations';

/** Finds people by an identity that is an address, in whatever case it is written. */
export class Migration20261125050400IdentitySpellings extends Migration {
  /** Built beside writers, which a transaction around it does not allow. */
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // An attempt that was interrupted leaves an index that is not valid.
  'drop index concurrently if exists person_identity_spellings',
  'create index concurrently person_identity_spellings on person (lower(identity))',
];
