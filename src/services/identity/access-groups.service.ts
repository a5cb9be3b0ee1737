import { cleanTitle, slugOf } from '../../domain/identity/access-group-names.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { freeName } from '../../persistence/database/free-name.ts';
import type { PageRequest } from '../../persistence/database/page.ts';
import {
  type AccessGroupRow,
  deleteAccessGroup,
  findAccessGroup,
  insertAccessGroup,
  isTitleTaken,
  listAccessGroups,
  updateAccessGroupTitle,
} from '../../persistence/identity/access-groups.repository.ts';
import type { Paged } from '../../persistence/identity/administrators.repository.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { fieldError } from '../common/fields.ts';
import { resolveAccessGroups } from './resolve-names.ts';
import type { Caller } from '../common/ports.ts';
import { changeRights, type RightsChangeDeps } from './rights-change.ts';

const ROOT = 'global';

export interface AccessGroupsService {
  /** One page of the account's access groups, the root first. Visible to every administrator. */
  list(caller: Caller, page: PageRequest): Promise<Paged<AccessGroupRow>>;
  /** @throws {DomainError} UnknownAccessGroup */
  get(caller: Caller, name: string): Promise<AccessGroupRow>;
  /**
   * Creates a group whose name is the slug of its title.
   * @param parent - name of the parent; default `global`
   * @throws {DomainError} InvalidParameter, UnknownAccessGroup for the parent (400), DuplicateAccessGroup
   * @see docs/api-conventions.md#access-groups
   */
  create(caller: Caller, title: string, parent: string | undefined): Promise<AccessGroupRow>;
  /** Changes only the title. @throws {DomainError} UnknownAccessGroup, InvalidParameter, DuplicateAccessGroup */
  rename(caller: Caller, name: string, title: string): Promise<AccessGroupRow>;
  /**
   * Removes a group and moves its children and computers to its parent. Roles limited to it do not gain the parent.
   * @returns the parent
   * @throws {DomainError} UnknownAccessGroup, InvalidParameter for the root
   */
  remove(caller: Caller, name: string): Promise<AccessGroupRow>;
}

export function createAccessGroupsService(deps: RightsChangeDeps): AccessGroupsService {
  return {
    list: (caller, page) => listAccessGroups(deps.db, caller.accountId, page),
    get: (caller, name) => requireGroup(deps.db, caller, name),
    create: (caller, title, parent) => changeRights(deps, caller, (tx) => create(tx, caller, title, parent ?? ROOT)),
    rename: (caller, name, title) => changeRights(deps, caller, (tx) => rename(tx, caller, name, title)),
    remove: (caller, name) => changeRights(deps, caller, (tx) => remove(tx, caller, name)),
  };
}

async function create(tx: Sql, caller: Caller, given: string, parent: string): Promise<AccessGroupRow> {
  const { accountId } = caller;
  const title = await requireFreeTitle(tx, accountId, given, null);
  const [parentId] = await resolveAccessGroups(tx, accountId, [parent], 'body.parent');
  const name = await freeName(tx, 'access_group', accountId, slugOf(title));
  await insertAccessGroup(tx, { account: accountId, name, title, parent: parentId! });
  const group = await requireGroup(tx, caller, name);
  await recordEvent(tx, caller, eventOf(group, `Created the access group ${title} below ${parent}`));
  return group;
}

async function rename(tx: Sql, caller: Caller, name: string, given: string): Promise<AccessGroupRow> {
  const group = await requireGroup(tx, caller, name);
  const title = await requireFreeTitle(tx, caller.accountId, given, name);
  await updateAccessGroupTitle(tx, group.id, title);
  await recordEvent(tx, caller, eventOf(group, `Renamed the access group ${group.title} to ${title}`));
  return { ...group, title };
}

async function remove(tx: Sql, caller: Caller, name: string): Promise<AccessGroupRow> {
  const group = await requireGroup(tx, caller, name);
  if (group.parent === '') {
    throw new DomainError('InvalidParameter', `The access group ${name} cannot be removed`, {
      details: [{ path: 'access_group_name', message: 'cannot be removed' }],
    });
  }
  await deleteAccessGroup(tx, group.id);
  const message = `Removed the access group ${group.title}; its content moved to ${group.parent}`;
  await recordEvent(tx, caller, eventOf(group, message));
  return requireGroup(tx, caller, group.parent);
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

function eventOf(group: AccessGroupRow, message: string) {
  return { entityType: 'AccessGroup' as const, entityId: group.id, entityName: group.name, message };
}
