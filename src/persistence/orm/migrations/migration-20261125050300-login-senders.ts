import { Migration } from '@mikro-orm/migrations';

/** Counts the failed logins of one address, whatever the names. */
export class Migration20261125050300LoginSenders extends Migration {
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
  'drop index concurrently if exists login_failure_address',
  'create index concurrently login_failure_address on login_failure (address, at)',
];
