import { Migration } from '@mikro-orm/migrations';

/** The lists of computers in their order, each from one small index, so that pages and counts never read wide rows. */
export class Migration20261121001100ComputerRoots extends Migration {
  override up(): void {
    this.addSql(`create index computer_listed on computer (account_id, id) include (access_group_id, is_wsl)
      where state = 'approved' and not archived`);
    this.addSql(`create index computer_listed_roots on computer (account_id, id) include (access_group_id, is_wsl)
      where state = 'approved' and not archived and parent_id is null`);
  }
}
