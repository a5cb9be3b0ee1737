import type { PageRequest } from '../../persistence/database/page.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { listTags } from '../../persistence/computers/tags.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

export interface TagsService {
  /** One page of the distinct tags of computers that the caller sees, except archived ones. */
  list(caller: Caller, page: PageRequest): Promise<{ count: number; tags: string[] }>;
}

export function createTagsService(deps: { db: Sql }): TagsService {
  return {
    list(caller, page) {
      const groups = caller.groups('ViewComputer');
      return listTags(deps.db, caller.accountId, groupsOf(groups), page);
    },
  };
}
