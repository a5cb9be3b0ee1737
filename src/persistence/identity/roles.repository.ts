import type { Sql } from '../database/sql.ts';
import type { AccessGroup } from './access-group.entity.ts';
import { Membership, MembershipRole } from './membership.entity.ts';
import { Person } from './person.entity.ts';
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
  const role = tx.em.create(Role, { account, name, ...content });
  await tx.em.flush();
  return role.id;
}

/** Replaces the given fields. The caller holds the rights lock of the account. */
export async function updateRole({ em }: Sql, roleId: number, content: RoleContent): Promise<void> {
  em.assign(await em.findOneOrFail(Role, roleId), content);
}

/** The caller holds the rights lock of the account. */
export async function replaceRoleGroups({ em }: Sql, role: number, groupIds: readonly number[]): Promise<void> {
  const groups = await em.find(RoleAccessGroup, { role });
  const ids = groups.map(({ accessGroup }) => accessGroup.id);
  em.remove(groups.filter(({ accessGroup }) => !groupIds.includes(accessGroup.id)));
  for (const accessGroup of groupIds) if (!ids.includes(accessGroup)) em.create(RoleAccessGroup, { role, accessGroup });
}

/** Deletes a role from all members and invitations. */
export async function deleteRole({ em }: Sql, roleId: number): Promise<void> {
  em.remove(await em.findOneOrFail(Role, roleId));
}

/** Whether any member of the account holds a role. */
export async function isRoleHeld(sql: Sql, account: number, name: string): Promise<boolean> {
  return (await sql.em.count(MembershipRole, { role: { account, name } })) > 0;
}

/** Makes a person a member; no effect on existing members. The caller holds the rights lock of the account. */
export async function insertMembership({ em }: Sql, account: number, person: number): Promise<void> {
  if (!(await em.findOne(Membership, { account, person }))) em.create(Membership, { account, person });
}

/** Deletes a membership with its roles; the person no longer prefers the account. */
export async function deleteMembership({ em }: Sql, account: number, person: number): Promise<void> {
  // The person's row first: everything that changes a person and then reads memberships locks in this order.
  await em.getKysely().selectFrom('person').select('id').where('id', '=', person).forNoKeyUpdate().execute();
  await em.nativeUpdate(Person, { id: person, preferredAccount: account }, { preferredAccount: null });
  if ((await em.nativeDelete(Membership, { account, person })) === 0) return;
  const left = em.getKysely().insertInto('former_member');
  await left
    .values(({ fn }) => ({ account_id: account, person_id: person, left_at: fn<Date>('now') }))
    .onConflict((c) =>
      c.columns(['account_id', 'person_id']).doUpdateSet({ left_at: (eb) => eb.ref('excluded.left_at') }),
    )
    .execute();
}

/** Gives a member these roles, and no others. The caller holds the rights lock of the account. */
export async function replaceRoles(tx: Sql, accountId: number, personId: number, roleIds: readonly number[]) {
  const held = await addRoles(tx, accountId, personId, roleIds);
  tx.em.remove(held.filter(({ role }) => !roleIds.includes(role.id)));
}

/** Roles that the member already holds stay. Lock as `replaceRoles`. @returns the roles until now */
export async function addRoles({ em }: Sql, accountId: number, personId: number, roleIds: readonly number[]) {
  const held = await em.find(MembershipRole, { accountId, personId });
  const ids = held.map(({ role }) => role.id);
  for (const role of roleIds) if (!ids.includes(role)) em.create(MembershipRole, { accountId, personId, role });
  return held;
}
