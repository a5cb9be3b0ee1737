import { LockMode } from '@mikro-orm/core';
import type { SeedRole } from '../../domain/identity/permissions.ts';
import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';
import { Account } from './account.entity.ts';
import { Membership, MembershipRole } from './membership.entity.ts';
import { Role, RoleAccessGroup } from './role.entity.ts';

export interface NewAccount {
  name: string;
  title: string;
  autoRegister: boolean;
  registrationKey: string | null;
}

export interface NewPerson {
  email: string;
  name: string;
  passwordHash: string;
  /** Whether they operate the whole system, beyond any account. */
  operator?: boolean;
}

/**
 * Creates an account with its root access group, its roles and its first administrator.
 * @param tx - the caller's transaction
 * @returns null when an account of that name exists, also under concurrency
 * @throws an error for which `isAddressTaken` is true when another person has or had the address
 */
export async function insertAccountWithAdministrator(
  tx: Sql,
  account: NewAccount,
  person: NewPerson,
  roles: { all: readonly SeedRole[]; administrator: string },
): Promise<{ accountId: number; personId: number } | null> {
  const accountId = await insertAccount(tx, account, roles.all);
  if (accountId === null) return null;
  const personId = await insertPerson(tx, person, accountId);
  await insertAdministrator(tx, accountId, personId, roles.administrator);
  return { accountId, personId };
}

/** Makes a person a member of an account with one role. */
export async function insertAdministrator(tx: Sql, account: number, person: number, roleName: string): Promise<void> {
  const role = await tx.em.findOneOrFail(Role, { account, name: roleName });
  await tx.em.insert(Membership, { account, person });
  await tx.em.insert(MembershipRole, { accountId: account, personId: person, role });
}

/** Creates an account with its root access group and its roles. @returns null when an account of that name exists */
export async function insertAccount(tx: Sql, account: NewAccount, roles: readonly SeedRole[]): Promise<number | null> {
  const rows = await tx.query<{ id: number }>(
    `insert into account (name, title, auto_register, registration_key) values (:name, :title, :autoRegister, :registrationKey)
     on conflict (name) do nothing returning id`,
    account,
  );
  const accountId = rows[0]?.id ?? null;
  if (accountId !== null) await seedRoles(tx, accountId, roles);
  return accountId;
}

/**
 * Sets the registration key of an account without one: computers enrol with this key only, and wait to be accepted.
 * @returns id and title of the account; null when there is none, or it has a key
 */
export async function closeEnrolment(
  tx: Sql,
  name: string,
  registrationKey: string,
): Promise<{ id: number; title: string } | null> {
  const where = { name, registrationKey: null };
  const account = await tx.em.findOne(Account, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return account && tx.em.assign(account, { registrationKey, autoRegister: false });
}

/**
 * Creates a person whose login name is their address, or derived from it if that login name is taken.
 * @throws an error for which `isAddressTaken` is true when another person has or had the address
 */
export async function insertPerson(tx: Sql, person: NewPerson, preferredAccountId: number | null): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into person (name, email, allowable_emails, identity, password_hash, preferred_account_id, operator)
     select :name, :email::text, array[:email::text],
       case when exists (select 1 from person where lower(identity) = lower(:email)) then :email || '/' || gen_random_uuid() else :email end,
       :passwordHash, :preferredAccountId::int, :operator
     returning id`,
    { ...person, preferredAccountId, operator: person.operator ?? false },
  );
  return rows[0]!.id;
}

async function seedRoles({ em }: Sql, account: number, roles: readonly SeedRole[]): Promise<void> {
  const accessGroup = em.create(AccessGroup, { account, name: 'global', title: 'Global access', parent: null });
  for (const { permissions, globalPermissions, ...seed } of roles) {
    const lists = { permissions: [...permissions], globalPermissions: [...globalPermissions] };
    const role = em.create(Role, { ...seed, ...lists, account });
    em.create(RoleAccessGroup, { role, accessGroup });
  }
  await em.flush();
}

export async function hasAccount(sql: Sql, person: number): Promise<boolean> {
  return (await sql.em.count(Membership, { person })) > 0;
}

export async function accountExists(sql: Sql, name: string): Promise<boolean> {
  return (await sql.em.count(Account, { name })) > 0;
}

export async function readAccountName(sql: Sql, accountId: number): Promise<string> {
  return (await sql.em.findOneOrFail(Account, accountId)).name;
}

export interface AccountRow {
  name: string;
  title: string;
  creation_time: Date;
  disabled: boolean;
  disabled_reason: string | null;
  subdomain: string | null;
  salesforce_account_key: string | null;
  administrators: Array<{ name: string; email: string }>;
  computers: number;
  last_login_time: Date | null;
}

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
