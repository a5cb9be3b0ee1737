import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { Membership, MembershipRole } from './membership.entity.ts';

export interface AdministratorRow {
  id: number;
  name: string;
  email: string;
  /** Alphabetical names. */
  roles: string[];
}

export interface Paged<T> {
  count: number;
  results: T[];
}

const SELECT = `
  select p.id, p.name, p.email,
    array(select r.name from membership_role mr join role r on r.id = mr.role_id
      where mr.account_id = m.account_id and mr.person_id = m.person_id order by r.name) as roles
  from membership m join person p on p.id = m.person_id where m.account_id = :accountId`;

/** Members of an account by id. */
export async function listAdministrators(
  sql: Sql,
  accountId: number,
  page: PageRequest,
): Promise<Paged<AdministratorRow>> {
  const [results, counted] = await Promise.all([
    sql.query<AdministratorRow>(`${SELECT} order by p.id limit :limit offset :offset`, {
      accountId,
      limit: page.limit,
      offset: page.offset,
    }),
    sql.query<{ count: number }>('select count(*)::int as count from membership where account_id = :accountId', {
      accountId,
    }),
  ]);
  return { count: counted[0]!.count, results };
}

export async function findAdministrator(sql: Sql, accountId: number, personId: number) {
  const rows = await sql.query<AdministratorRow>(`${SELECT} and m.person_id = :personId`, { accountId, personId });
  return rows[0] ?? null;
}

/** Makes a person a member; no effect on existing members. */
export async function insertMembership(tx: Sql, account: number, person: number): Promise<void> {
  await tx.em.upsert(Membership, { account, person }, { onConflictAction: 'ignore' });
}

export async function replaceRoles(
  tx: Sql,
  accountId: number,
  personId: number,
  roleIds: readonly number[],
): Promise<void> {
  await tx.em.nativeDelete(MembershipRole, { accountId, personId, role: { $nin: [...roleIds] } });
  await addRoles(tx, accountId, personId, roleIds);
}

export async function addRoles(
  tx: Sql,
  accountId: number,
  personId: number,
  roleIds: readonly number[],
): Promise<void> {
  const roles = roleIds.map((role) => ({ accountId, personId, role }));
  await tx.em.upsertMany(MembershipRole, roles, { onConflictAction: 'ignore' });
}

/** Deletes a membership with its roles; the person no longer prefers the account. */
export async function deleteMembership(tx: Sql, accountId: number, personId: number): Promise<void> {
  // The person's row first: everything that changes a person and then reads memberships locks in this order.
  await tx.query('select from person where id = :personId for no key update', { personId });
  await tx.query(
    'update person set preferred_account_id = null where id = :personId and preferred_account_id = :accountId',
    { accountId, personId },
  );
  await tx.query(
    `with removed as (
       delete from membership where account_id = :accountId and person_id = :personId returning account_id, person_id
     )
     insert into former_member (account_id, person_id, left_at) select account_id, person_id, now() from removed
     on conflict (account_id, person_id) do update set left_at = excluded.left_at`,
    { accountId, personId },
  );
}

/** Whether any member of the account holds a role. */
export async function isRoleHeld(sql: Sql, accountId: number, roleName: string): Promise<boolean> {
  const rows = await sql.query<{ held: boolean }>(
    `select exists (select from role r join membership_role mr on mr.role_id = r.id
       where r.account_id = :accountId and r.name = :roleName) as held`,
    { accountId, roleName },
  );
  return rows[0]!.held;
}
