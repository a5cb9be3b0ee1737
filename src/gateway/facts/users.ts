import { type LocalGroup, type LocalUser, RowDelta, type UserDelta } from '../../domain/agents/deltas.ts';
import { type BObject, isDict } from '../../protocol/bpickle.ts';
import type { Facts } from './facts.ts';
import { describeItem, type ItemName, type MessageFaults } from './faults.ts';
import { MalformedMessage, toText } from './fields.ts';
import { lenientBoolean, lenientInt, lenientText, readDicts, readItems, readNames } from './lenient-fields.ts';

const MAX_NAMES = 200_000;
const MAX_NAME = 256;
const NAMES = { items: MAX_NAMES, length: MAX_NAME };
const MAX_TEXT = 4096;
const MAX_ID = 2 ** 33;

export function readUsers(message: BObject, facts: Facts, faults: MessageFaults): void {
  const users = ['create-users', 'update-users'].flatMap((key) =>
    readDicts(message[key], key, MAX_NAMES, faults, {
      name: (user) => describeItem('user', user['username']),
      read: (user, item) => readUser(user, item, faults),
    }),
  );
  const groups = ['create-groups', 'update-groups'].flatMap((key) =>
    readDicts(message[key], key, MAX_NAMES, faults, {
      name: (group) => describeItem('group', group['name']),
      read: (group, item) => readGroup(group, item, faults),
    }),
  );
  const names = (key: string) => readNames(message[key], NAMES, { what: key, faults });
  const [removedUsers, removedGroups] = [names('delete-users'), names('delete-groups')];
  const joins = readMembers(message['create-group-members'], 'create-group-members', faults);
  const leaves = readMembers(message['delete-group-members'], 'delete-group-members', faults);
  const count =
    users.length + groups.length + removedUsers.length + removedGroups.length + joins.length + leaves.length;
  faults.requireUsable(count > 0);
  facts.users ??= emptyDelta(false);
  const delta = facts.users;
  for (const name of removedUsers) delta.users.remove(name);
  for (const user of users) delta.users.put(user.username, user);
  for (const name of removedGroups) delta.groups.remove(name);
  for (const group of groups) delta.groups.put(group.name, group);
  for (const [group, members] of leaves) moveMembers(delta.joins, delta.leaves, group, members);
  for (const [group, members] of joins) moveMembers(delta.leaves, delta.joins, group, members);
}

function readMembers(
  value: BObject[string] | undefined,
  what: string,
  faults: MessageFaults,
): Array<[string, string[]]> {
  if (value === undefined || value === null) return [];
  if (!isDict(value)) {
    faults.skipped(`${what} must be a dict`);
    return [];
  }
  return readItems(Object.entries(value), what, MAX_NAMES, faults, {
    name: (entry) => describeItem('group', (entry as [string, BObject[string]])[0]),
    read: (entry) => {
      const [group, members] = entry as [string, BObject[string]];
      const name = toText(group, 'the name of a group', MAX_NAME);
      if (!Array.isArray(members)) throw new MalformedMessage(`${what} must be lists`);
      return [name, readNames(members, NAMES, { what, faults })];
    },
  });
}

/** Discards earlier reports of the same exchange too; the stored users are replaced. */
export function resetUsers(facts: Facts): void {
  facts.users = emptyDelta(true);
}

function emptyDelta(resetAll: boolean): UserDelta {
  return { resetAll, users: new RowDelta(), groups: new RowDelta(), joins: new Map(), leaves: new Map() };
}

function moveMembers(
  from: Map<string, Set<string>>,
  to: Map<string, Set<string>>,
  group: string,
  names: readonly string[],
): void {
  const target = to.get(group) ?? new Set<string>();
  for (const name of names) {
    from.get(group)?.delete(name);
    target.add(name);
  }
  to.set(group, target);
}

function readUser(user: BObject, item: ItemName, faults: MessageFaults): LocalUser {
  const username = toText(user['username'], 'the name of a user', MAX_NAME);
  const shown = (key: string) => lenientText(user[key], MAX_TEXT, { what: `${key} of a user`, faults, item });
  const number = (key: string) => lenientInt(user[key], [-1, MAX_ID], { what: `${key} of a user`, faults, item });
  return {
    username,
    uid: number('uid'),
    name: shown('name'),
    enabled: lenientBoolean(user['enabled'], { what: 'enabled of a user', faults, item }) ?? true,
    location: shown('location'),
    homePhone: shown('home-phone'),
    workPhone: shown('work-phone'),
    primaryGid: number('primary-gid'),
  };
}

function readGroup(group: BObject, item: ItemName, faults: MessageFaults): LocalGroup {
  const name = toText(group['name'], 'the name of a group', MAX_NAME);
  return { name, gid: lenientInt(group['gid'], [-1, MAX_ID], { what: 'gid of a group', faults, item }) };
}
