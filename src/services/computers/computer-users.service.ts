import { listComputerUsers } from '../../persistence/computers/computer-users.sql.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { requireVisible } from '../activities/targets.ts';
import type { Caller } from '../common/ports.ts';

export function createComputerUsersService({ db }: { db: Database }) {
  return {
    /** One page of the reported local users, by user name. @throws {DomainError} UnknownComputer */
    async list(caller: Caller, computer: number, { search, ...page }: PageRequest & { search: string }) {
      await requireVisible(db, caller, [computer]);
      return listComputerUsers(db, computer, search, page);
    },
  };
}
