import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';
import { Membership, MembershipRole } from './membership.entity.ts';
import { Role, RoleAccessGroup } from './role.entity.ts';

/** Ids of an account's roles or access groups, by name. Unknown names are absent. */
export async function findIdsByName(
  sql: Sql,
  entity: typeof Role | typeof AccessGroup,
  account: number,
  names: readonly string[],
): Promise<Map<string, number>> {
  const found = await sql.em.find<Role | AccessGroup>(entity, { account, name: { $in: [...names] } });
  return new Map(found.map(({ id, name }) => [name, id]));
}

export type RoleContent = Pick<Role, 'description' | 'permissions' | 'globalPermissions'>;

/** @remarks The caller holds the rights lock of the account. @returns the id, or null when the name is taken */
export async function insertRole(tx: Sql, account: number, name: string, content: RoleContent): Promise<number | null> {
  if ((await tx.em.count(Role, { account, name })) > 0) return null;
  return tx.em.insert(Role, { account, name, ...content });
}

/** Replaces the given fields. The caller holds the rights lock of the account. */
export async function updateRole(tx: Sql, roleId: number, content: RoleContent): Promise<void> {
  await tx.em.nativeUpdate(Role, roleId, content);
}

/** The caller holds the rights lock of the account. */
export async function replaceRoleGroups(tx: Sql, role: number, groupIds: readonly number[]): Promise<void> {
  await tx.em.nativeDelete(RoleAccessGroup, { role });
  const groups = groupIds.map((accessGroup) => ({ role, accessGroup }));
  await tx.em.insertMany(RoleAccessGroup, groups);
}

/** Deletes a role from all members and invitations. */
export async function deleteRole(tx: Sql, roleId: number): Promise<void> {
  await tx.em.nativeDelete(Role, roleId);
}

/** Whether any member of the account holds a role. */
export async function isRoleHeld(sql: Sql, account: number, name: string): Promise<boolean> {
  return (await sql.em.count(MembershipRole, { role: { account, name } })) > 0;
}

/** Makes a person a member; no effect on existing members. */
export async function insertMembership(tx: Sql, account: number, person: number): Promise<void> {
  await tx.em.upsert(Membership, { account, person }, { onConflictAction: 'ignore' });
}

/** Gives a member these roles, and no others. */
export async function replaceRoles(tx: Sql, accountId: number, personId: number, roleIds: readonly number[]) {
  await tx.em.nativeDelete(MembershipRole, { accountId, personId, role: { $nin: [...roleIds] } });
  await addRoles(tx, accountId, personId, roleIds);
}

/** Idempotent; roles that the member already holds stay. */
export async function addRoles(tx: Sql, accountId: number, personId: number, roleIds: readonly number[]) {
  const roles = roleIds.map((role) => ({ accountId, personId, role }));
  await tx.em.upsertMany(MembershipRole, roles, { onConflictAction: 'ignore' });
}

/** Whether another group than `name` has this title. */
export async function isTitleTaken(sql: Sql, account: number, title: string, name: string | null): Promise<boolean> {
  const group = await sql.em.findOne(AccessGroup, { account, title });
  return group !== null && group.name !== name;
}

/** The caller holds the rights lock and has checked that name and title are free. */
export async function insertAccessGroup(
  tx: Sql,
  group: { account: number; name: string; title: string; parent: number },
): Promise<void> {
  await tx.em.insert(AccessGroup, group);
}

/** The caller holds the rights lock and has checked that the title is free. */
export async function updateAccessGroupTitle(tx: Sql, groupId: number, title: string): Promise<void> {
  await tx.em.nativeUpdate(AccessGroup, groupId, { title });
}
