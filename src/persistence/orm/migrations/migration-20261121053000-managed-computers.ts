import { Migration } from '@mikro-orm/migrations';

/** What putting computers away and taking them in need. */
export class Migration20261121053000ManagedComputers extends Migration {
  override up(): void {
    for (const statement of STATEMENTS) this.addSql(statement);
  }
}

const STATEMENTS = [
  `create index computer_pending on computer (account_id, id) where state = 'pending'`,
  // Clones of a computer that goes are found without a look at the others.
  `create index computer_clone on computer (clone_id) where clone_id is not null`,
  // Where a removed computer was, so that its activities stay readable for those who saw them.
  `create table removed_computer (
    id int primary key,
    account_id int not null references account on delete cascade,
    access_group_id int not null references access_group,
    title text not null,
    removed_at timestamptz not null)`,
  `create index removed_computer_group on removed_computer (access_group_id)`,
];
