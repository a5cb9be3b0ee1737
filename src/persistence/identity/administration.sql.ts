import type { PageRequest, Paged } from '../database/page.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';
import { Membership } from './membership.entity.ts';
import { Role } from './role.entity.ts';

type AccountColumns = Row<
  'account',
  'name, title, creation_time, disabled, disabled_reason, subdomain, salesforce_account_key'
>;

export interface AccountRow extends AccountColumns {
  administrators: Array<{ name: string; email: string }>;
  computers: number;
  last_login_time: Date | null;
}

/** With its administrators, approved computers and latest login; null for none. */
export async function findAccount(sql: Sql, accountId: number): Promise<AccountRow | null> {
  const rows = await sql.query<AccountRow>(
    `select a.name, a.title, a.creation_time, a.disabled, a.disabled_reason, a.subdomain, a.salesforce_account_key,
       coalesce((select jsonb_agg(jsonb_build_object('name', p.name, 'email', p.email) order by p.id)
         from membership m join person p on p.id = m.person_id where m.account_id = a.id), '[]') as administrators,
       (select count(*)::int from computer c where c.account_id = a.id and c.state = 'approved' and not c.archived) as computers,
       (select max(p.last_login_time) from membership m join person p on p.id = m.person_id where m.account_id = a.id)
         as last_login_time
     from account a where a.id = :accountId`,
    { accountId },
  );
  return rows[0] ?? null;
}

export type AdministratorRow = Row<'person', 'id, name, email'> & { roles: string[] };

const ADMINISTRATORS = `
  select p.id, p.name, p.email,
    array(select r.name from membership_role mr join role r on r.id = mr.role_id
      where mr.account_id = m.account_id and mr.person_id = m.person_id order by r.name) as roles
  from membership m join person p on p.id = m.person_id where m.account_id = :account`;

/** Members of an account by id. */
export async function listAdministrators(sql: Sql, account: number, page: PageRequest) {
  const [results, count] = await Promise.all([
    sql.query<AdministratorRow>(`${ADMINISTRATORS} order by p.id limit :limit offset :offset`, { account, ...page }),
    sql.em.count(Membership, { account }),
  ]);
  return { count, results };
}

/** Null when the person is no member of the account. */
export async function findAdministrator(sql: Sql, account: number, person: number): Promise<AdministratorRow | null> {
  const rows = await sql.query<AdministratorRow>(`${ADMINISTRATORS} and m.person_id = :person`, { account, person });
  return rows[0] ?? null;
}

export interface RoleRow extends Row<'role', 'id, name, description, read_only, permissions, global_permissions'> {
  access_groups: string[];
  persons: string[];
}

const ROLES = `
  select r.id, r.name, r.description, r.read_only, r.permissions, r.global_permissions,
    array(select g.name from role_access_group rg join access_group g on g.id = rg.access_group_id
      where rg.role_id = r.id order by g.name) as access_groups,
    array(select p.email from membership_role mr join person p on p.id = mr.person_id
      where mr.role_id = r.id order by p.email) as persons
  from role r where r.account_id = :account`;

/** Roles of an account by id: the seeded ones first. */
export async function listRoles(sql: Sql, account: number, page: PageRequest): Promise<Paged<RoleRow>> {
  const [results, count] = await Promise.all([
    sql.query<RoleRow>(`${ROLES} order by r.id limit :limit offset :offset`, { account, ...page }),
    sql.em.count(Role, { account }),
  ]);
  return { count, results };
}

/** With its access groups and the addresses of its members; null for none. */
export async function findRole(sql: Sql, account: number, name: string): Promise<RoleRow | null> {
  const rows = await sql.query<RoleRow>(`${ROLES} and r.name = :name`, { account, name });
  return rows[0] ?? null;
}

export type RoleGrant = Row<'role', 'name, permissions, global_permissions'> & { groups: number[] };

/** What some roles permit, in no order. */
export function findRoleGrants(sql: Sql, roleIds: readonly number[]): Promise<RoleGrant[]> {
  return sql.query<RoleGrant>(
    `select name, permissions, global_permissions,
       array(select access_group_id from role_access_group where role_id = role.id) as groups
     from role where id = any(:roleIds::int[])`,
    { roleIds },
  );
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

export type AccessGroupRow = Row<'access_group', 'id, name, title'> & { parent: string; children: string };

const ACCESS_GROUPS = `
  select g.id, g.name, g.title, coalesce(parent.name, '') as parent,
    coalesce((select string_agg(c.name, ',' order by c.name) from access_group c where c.parent_id = g.id), '') as children
  from access_group g left join access_group parent on parent.id = g.parent_id where g.account_id = :account`;

/** Access groups of an account by id: the root first. */
export async function listAccessGroups(sql: Sql, account: number, page: PageRequest): Promise<Paged<AccessGroupRow>> {
  const [results, count] = await Promise.all([
    sql.query<AccessGroupRow>(`${ACCESS_GROUPS} order by g.id limit :limit offset :offset`, { account, ...page }),
    sql.em.count(AccessGroup, { account }),
  ]);
  return { count, results };
}

/** Null when the account has no group of this name. */
export async function findAccessGroup(sql: Sql, account: number, name: string): Promise<AccessGroupRow | null> {
  const rows = await sql.query<AccessGroupRow>(`${ACCESS_GROUPS} and g.name = :name`, { account, name });
  return rows[0] ?? null;
}
