import type { Sql } from '../../persistence/sql.ts';
import type { BObject } from '../../protocol/bpickle.ts';
import type { LocalGroup, LocalUser, UserDelta } from './deltas.ts';
import type { Facts } from './facts.ts';
import { toBoolean, toDicts, toIntOrNull, toText, toTextLists, toTextOrNull, toTexts } from './fields.ts';

const MAX_NAMES = 200_000;
const MAX_NAME = 256;
const MAX_ID = 2 ** 33;

/** Reads `users`. */
export function readUsers(message: BObject, facts: Facts): void {
  const users = ['create-users', 'update-users'].flatMap((key) => toDicts(message[key], key, MAX_NAMES).map(readUser));
  const groups = ['create-groups', 'update-groups'].flatMap((key) =>
    toDicts(message[key], key, MAX_NAMES).map(readGroup),
  );
  const removedUsers = toTexts(message['delete-users'], 'delete-users', MAX_NAMES, MAX_NAME);
  const removedGroups = toTexts(message['delete-groups'], 'delete-groups', MAX_NAMES, MAX_NAME);
  const joins = toTextLists(message['create-group-members'], 'create-group-members', MAX_NAMES);
  const leaves = toTextLists(message['delete-group-members'], 'delete-group-members', MAX_NAMES);
  facts.users ??= noChange(false);
  const delta = facts.users;
  for (const name of removedUsers) replace(delta.users, delta.removedUsers, name, null);
  for (const user of users) replace(delta.users, delta.removedUsers, user.username, user);
  for (const name of removedGroups) replace(delta.groups, delta.removedGroups, name, null);
  for (const group of groups) replace(delta.groups, delta.removedGroups, group.name, group);
  for (const [group, names] of leaves) moveMembers(delta.joins, delta.leaves, group, names);
  for (const [group, names] of joins) moveMembers(delta.leaves, delta.joins, group, names);
}

/** Everything known of the computer's users and groups, also from this exchange, is void. */
export function forgetUsers(facts: Facts): void {
  facts.users = noChange(true);
}

function noChange(forgetAll: boolean): UserDelta {
  return {
    forgetAll,
    users: new Map(),
    removedUsers: new Set(),
    groups: new Map(),
    removedGroups: new Set(),
    joins: new Map(),
    leaves: new Map(),
  };
}

function replace<T>(present: Map<string, T>, removed: Set<string>, name: string, value: T | null): void {
  if (value === null) {
    present.delete(name);
    removed.add(name);
  } else {
    removed.delete(name);
    present.set(name, value);
  }
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

function readUser(user: BObject): LocalUser {
  return {
    username: toText(user['username'], 'username', MAX_NAME),
    uid: toIntOrNull(user['uid'], 'uid', -1, MAX_ID),
    name: toTextOrNull(user['name'], 'name', 4096),
    enabled: toBoolean(user['enabled'] ?? true, 'enabled'),
    location: toTextOrNull(user['location'], 'location', 4096),
    homePhone: toTextOrNull(user['home-phone'], 'home-phone', 4096),
    workPhone: toTextOrNull(user['work-phone'], 'work-phone', 4096),
    primaryGid: toIntOrNull(user['primary-gid'], 'primary-gid', -1, MAX_ID),
  };
}

function readGroup(group: BObject): LocalGroup {
  return { name: toText(group['name'], 'name', MAX_NAME), gid: toIntOrNull(group['gid'], 'gid', -1, MAX_ID) };
}

/** Saves a delta: users in one statement, groups and their members in another. */
export async function saveUsers(tx: Sql, computerId: number, delta: UserDelta): Promise<void> {
  const users = [...delta.users.values()];
  if (delta.forgetAll || users.length > 0 || delta.removedUsers.size > 0) {
    await tx.query(SAVE_USERS, [
      computerId,
      delta.forgetAll,
      [...delta.removedUsers],
      users.map((user) => user.username),
      users.map((user) => user.uid),
      users.map((user) => user.name),
      users.map((user) => user.enabled),
      users.map((user) => user.location),
      users.map((user) => user.homePhone),
      users.map((user) => user.workPhone),
      users.map((user) => user.primaryGid),
    ]);
  }
  const groups = [...delta.groups.values()];
  if (delta.forgetAll || groups.length > 0 || delta.removedGroups.size > 0) {
    await tx.query(SAVE_GROUPS, [
      computerId,
      delta.forgetAll,
      [...delta.removedGroups],
      groups.map((group) => group.name),
      groups.map((group) => group.gid),
    ]);
  }
  const changed = new Set([...delta.joins.keys(), ...delta.leaves.keys()]);
  if (changed.size === 0) return;
  const changes = [...changed].map((group) => ({
    group,
    joins: [...(delta.joins.get(group) ?? [])],
    leaves: [...(delta.leaves.get(group) ?? [])],
  }));
  await tx.query(SAVE_MEMBERS, [computerId, JSON.stringify(changes)]);
}

const SAVE_USERS = `
  with gone as (
    delete from computer_user
    where computer_id = $1 and ($2::boolean or username = any($3::text[])) and not (username = any($4::text[]))
  )
  insert into computer_user as known
    (computer_id, username, uid, name, enabled, location, home_phone, work_phone, primary_gid)
  select $1, r.* from unnest($4::text[], $5::bigint[], $6::text[], $7::boolean[], $8::text[], $9::text[], $10::text[],
    $11::bigint[]) r
  on conflict (computer_id, username) do update set uid = excluded.uid, name = excluded.name,
    enabled = excluded.enabled, location = excluded.location, home_phone = excluded.home_phone,
    work_phone = excluded.work_phone, primary_gid = excluded.primary_gid
  where known is distinct from excluded`;

const SAVE_GROUPS = `
  with gone as (
    delete from computer_group
    where computer_id = $1 and ($2::boolean or name = any($3::text[])) and not (name = any($4::text[]))
  )
  insert into computer_group as known (computer_id, name, gid, members)
  select $1, r.name, r.gid, '{}' from unnest($4::text[], $5::bigint[]) r(name, gid)
  on conflict (computer_id, name) do update
    set gid = excluded.gid, members = case when $2 then '{}' else known.members end`;

const SAVE_MEMBERS = `
  update computer_group g set members = array(
    select distinct member from (
      select unnest(g.members) as member union select jsonb_array_elements_text(c.change->'joins')
    ) m where not (c.change->'leaves' ? member) order by member)
  from (select jsonb_array_elements($2::jsonb) as change) c
  where g.computer_id = $1 and g.name = c.change->>'group'`;
