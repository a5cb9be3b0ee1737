import { Migration } from '@mikro-orm/migrations';

/** Finds the next entries of each account without reading those of all others. */
export class Migration20261121091100OutboxTurnIndex extends Migration {
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
  'drop index concurrently if exists outbox_turn',
  `create index concurrently outbox_turn on outbox (account_id, id) where kind in ('start', 'cancel')`,
];
