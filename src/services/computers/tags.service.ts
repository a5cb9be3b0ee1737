import type { PageRequest } from '../../persistence/database/page.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { listTags } from '../../persistence/computers/tags.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** The tags of the fleet. */
export interface TagsService {
  /** One page of the tags of computers the caller sees, each once, in order; archived computers have none here. */
  list(caller: Caller, page: PageRequest): Promise<{ count: number; tags: string[] }>;
}

/** Makes the service. */
export function createTagsService(deps: { db: Sql }): TagsService {
  return {
    list(caller, page) {
      const groups = caller.groups('ViewComputer');
      return listTags(deps.db, caller.accountId, groupsOf(groups), page);
    },
  };
}
