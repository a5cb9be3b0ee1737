import { listTags } from '../../persistence/computers/computers.sql.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import type { Caller } from '../common/ports.ts';

export function createTagsService(deps: { db: Sql }) {
  return {
    /** One page of the distinct tags of computers that the caller sees, except archived ones. */
    list: (caller: Caller, page: PageRequest) =>
      listTags(deps.db, caller.accountId, groupsOf(caller.groups('ViewComputer')), page),
  };
}
