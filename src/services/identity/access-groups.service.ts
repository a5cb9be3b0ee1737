import { cleanTitle, slugOf } from '../../domain/identity/access-group-names.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { freeName } from '../../persistence/database/free-name.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import {
  type AccessGroupRow,
  findAccessGroup,
  listAccessGroups,
} from '../../persistence/identity/administration.sql.ts';
import {
  deleteAccessGroup,
  insertAccessGroup,
  isTitleTaken,
  updateAccessGroupTitle,
} from '../../persistence/identity/access-groups.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { fieldError } from '../common/fields.ts';
import { resolveAccessGroups } from './resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { record } from './record.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

const ROOT = 'global';

export type AccessGroupsService = ReturnType<typeof createAccessGroupsService>;

export function createAccessGroupsService(deps: RightsChangeDeps) {
  return {
    list: (caller: Caller, page: PageRequest) => listAccessGroups(deps.db, caller.accountId, page),
    /** @throws {DomainError} UnknownAccessGroup */
    get: (caller: Caller, name: string) => requireGroup(deps.db, caller, name),
    /** Its name is the slug of the title. @throws InvalidParameter, UnknownAccessGroup (400), DuplicateAccessGroup */
    create: (caller: Caller, given: string, parent = ROOT) =>
      changeRights(deps, caller, async (tx) => {
        const { accountId: account } = caller;
        const title = await requireFreeTitle(tx, account, given, null);
        const [parentId] = await resolveAccessGroups(tx, account, [parent], 'body.parent');
        const name = await freeName(tx, 'access_group', account, slugOf(title));
        insertAccessGroup(tx, { account, name, title, parent: parentId! });
        const group = await requireGroup(tx, caller, name);
        await record(tx, caller, 'AccessGroup', group, `Created the access group ${title} below ${parent}`);
        return group;
      }),
    /** Changes only the title. @throws {DomainError} UnknownAccessGroup, InvalidParameter, DuplicateAccessGroup */
    rename: (caller: Caller, name: string, given: string) =>
      changeRights(deps, caller, async (tx) => {
        const group = await requireGroup(tx, caller, name);
        const title = await requireFreeTitle(tx, caller.accountId, given, name);
        await updateAccessGroupTitle(tx, group.id, title);
        await record(tx, caller, 'AccessGroup', group, `Renamed the access group ${group.title} to ${title}`);
        return { ...group, title };
      }),
    /**
     * Moves children and computers to the parent, which it returns. Roles limited to the group do not gain the parent.
     * @throws {DomainError} UnknownAccessGroup, InvalidParameter for the root
     */
    remove: (caller: Caller, name: string) =>
      changeRights(deps, caller, async (tx) => {
        const group = await requireGroup(tx, caller, name);
        if (group.parent === '') {
          throw new DomainError('InvalidParameter', `The access group ${name} cannot be removed`, {
            details: [{ path: 'access_group_name', message: 'cannot be removed' }],
          });
        }
        await deleteAccessGroup(tx, group.id);
        const message = `Removed the access group ${group.title}; its content moved to ${group.parent}`;
        await record(tx, caller, 'AccessGroup', group, message);
        return requireGroup(tx, caller, group.parent);
      }),
  };
}

async function requireGroup(sql: Sql, caller: Caller, name: string): Promise<AccessGroupRow> {
  const found = await findAccessGroup(sql, caller.accountId, name);
  if (!found) throw new DomainError('UnknownAccessGroup', 'There is no such access group');
  return found;
}

async function requireFreeTitle(tx: Sql, accountId: number, given: string, name: string | null): Promise<string> {
  const title = cleanTitle(given);
  if (title === null) throw fieldError('body.title', 'must have 1 to 255 letters, digits, spaces, dashes or dots');
  if (await isTitleTaken(tx, accountId, title, name)) {
    throw new DomainError('DuplicateAccessGroup', 'An access group with this title already exists');
  }
  return title;
}
