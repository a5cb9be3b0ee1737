import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import type { Paged } from './administrators.repository.ts';
import { Role, RoleAccessGroup } from './role.entity.ts';

export interface RoleRow {
  id: number;
  name: string;
  description: string;
  read_only: boolean;
  permissions: string[];
  global_permissions: string[];
  /** Alphabetical names. */
  access_groups: string[];
  /** Addresses of its holders, alphabetical. */
  persons: string[];
}

const SELECT = `
  select r.id, r.name, r.description, r.read_only, r.permissions, r.global_permissions,
    array(select g.name from role_access_group rg join access_group g on g.id = rg.access_group_id
      where rg.role_id = r.id order by g.name) as access_groups,
    array(select p.email from membership_role mr join person p on p.id = mr.person_id
      where mr.role_id = r.id order by p.email) as persons
  from role r where r.account_id = :accountId`;

/** Roles of an account by id: the seeded ones first. */
export async function listRoles(sql: Sql, accountId: number, page: PageRequest): Promise<Paged<RoleRow>> {
  const [results, counted] = await Promise.all([
    sql.query<RoleRow>(`${SELECT} order by r.id limit :limit offset :offset`, {
      accountId,
      limit: page.limit,
      offset: page.offset,
    }),
    sql.query<{ count: number }>('select count(*)::int as count from role where account_id = :accountId', {
      accountId,
    }),
  ]);
  return { count: counted[0]!.count, results };
}

export async function findRole(sql: Sql, accountId: number, name: string): Promise<RoleRow | null> {
  const rows = await sql.query<RoleRow>(`${SELECT} and r.name = :name`, { accountId, name });
  return rows[0] ?? null;
}

/** Ids of named roles, by name. Unknown names are absent. */
export async function findRoleIds(sql: Sql, account: number, names: readonly string[]): Promise<Map<string, number>> {
  const roles = await sql.em.find(Role, { account, name: { $in: [...names] } }, { fields: ['name'] });
  return new Map(roles.map(({ id, name }) => [name, id]));
}

/** The permissions of roles, and their access groups. */
export interface RoleGrant {
  name: string;
  permissions: string[];
  global_permissions: string[];
  groups: number[];
}

export async function findRoleGrants(sql: Sql, roleIds: readonly number[]): Promise<RoleGrant[]> {
  return sql.query<RoleGrant>(
    `select name, permissions, global_permissions,
       array(select access_group_id from role_access_group where role_id = role.id) as groups
     from role where id = any(:roleIds::int[])`,
    { roleIds },
  );
}

export interface RoleContent {
  description: string;
  permissions: readonly string[];
  globalPermissions: readonly string[];
}

/**
 * @remarks The caller holds the rights lock of the account.
 * @returns the id, or null when the name is taken
 */
export async function insertRole(
  tx: Sql,
  account: number,
  name: string,
  { description, permissions, globalPermissions }: RoleContent,
): Promise<number | null> {
  if ((await tx.em.count(Role, { account, name })) > 0) return null;
  return tx.em.insert(Role, {
    account,
    name,
    description,
    permissions: [...permissions],
    globalPermissions: [...globalPermissions],
  });
}

export async function updateRole(tx: Sql, roleId: number, content: RoleContent): Promise<void> {
  const { description, permissions, globalPermissions } = content;
  await tx.em.nativeUpdate(Role, roleId, {
    description,
    permissions: [...permissions],
    globalPermissions: [...globalPermissions],
  });
}

export async function replaceRoleGroups(tx: Sql, role: number, groupIds: readonly number[]): Promise<void> {
  await tx.em.nativeDelete(RoleAccessGroup, { role });
  await tx.em.insertMany(
    RoleAccessGroup,
    groupIds.map((accessGroup) => ({ role, accessGroup })),
  );
}

/** Deletes a role from all members and invitations. */
export async function deleteRole(tx: Sql, roleId: number): Promise<void> {
  await tx.em.nativeDelete(Role, roleId);
}

/** Whether a person or an invitation has this role and no other. */
export async function isOnlyRoleOfSomebody(sql: Sql, roleId: number): Promise<boolean> {
  const rows = await sql.query<{ only: boolean }>(
    `select exists (
       select from membership_role mr where mr.role_id = :roleId and not exists (
         select from membership_role o
         where o.account_id = mr.account_id and o.person_id = mr.person_id and o.role_id <> :roleId)
     ) or exists (
       select from invitation_role ir where ir.role_id = :roleId and not exists (
         select from invitation_role o where o.invitation_id = ir.invitation_id and o.role_id <> :roleId)
     ) as only`,
    { roleId },
  );
  return rows[0]!.only;
}
