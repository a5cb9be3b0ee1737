import { Migration } from '@mikro-orm/migrations';

/** Whose an outbox entry is, so that accounts can take turns. */
export class Migration20261121091000OutboxTurns extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  // 0: written by a process of before, which does not tell; such entries take turns as one account.
  `alter table outbox add column account_id int not null default 0`,
];
