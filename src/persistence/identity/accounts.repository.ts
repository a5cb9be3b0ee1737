import { randomUUID } from 'node:crypto';
import { raw } from '@mikro-orm/core';
import type { SeedRole } from '../../domain/identity/permissions.ts';
import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';
import { Account } from './account.entity.ts';
import { Membership, MembershipRole } from './membership.entity.ts';
import { Person } from './person.entity.ts';
import { Role, RoleAccessGroup } from './role.entity.ts';

type NewAccount = Pick<Account, 'name' | 'title' | 'autoRegister' | 'registrationKey'>;

interface NewPerson {
  email: string;
  name: string;
  passwordHash: string;
  operator?: boolean;
}

/** With root group, roles, administrator; null when the name exists. @throws an error that `isAddressTaken` detects */
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
  tx.em.create(Membership, { account, person });
  tx.em.create(MembershipRole, { accountId: account, personId: person, role });
}

/** Creates an account with its root access group and its roles. @returns null when an account of that name exists */
export async function insertAccount(tx: Sql, account: NewAccount, roles: readonly SeedRole[]): Promise<number | null> {
  const insert = tx.em.createQueryBuilder(Account).insert(account).onConflict('name').ignore();
  const created = await insert.returning('id').execute<{ id: number } | null>('get');
  if (!created) return null;
  await seedRoles(tx, created.id, roles);
  return created.id;
}

/** Computers need the key and acceptance from now on. Null without the account, or when it has a key. */
export async function closeEnrolment(tx: Sql, name: string, registrationKey: string) {
  await lockedAccount(tx).where('name', '=', name).execute();
  const account = await tx.em.findOne(Account, { name, registrationKey: null });
  return account && tx.em.assign(account, { registrationKey, autoRegister: false });
}

/** The login name is the address, or derived from it if taken. @throws an error that `isAddressTaken` detects */
export async function insertPerson(tx: Sql, person: NewPerson, preferredAccount: number | null): Promise<number> {
  const { name, email, passwordHash, operator = false } = person;
  const isTaken = await tx.em.count(Person, { [raw('lower(identity)')]: raw('lower(?)', [email]) });
  const identity = isTaken ? `${email}/${randomUUID()}` : email;
  const addresses = { email, allowableEmails: [email], identity };
  const created = tx.em.create(Person, { name, ...addresses, passwordHash, preferredAccount, operator });
  await tx.em.flush();
  return created.id;
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

/** Whether a person is a member of any account. */
export async function hasAccount(sql: Sql, person: number): Promise<boolean> {
  return (await sql.em.count(Membership, { person })) > 0;
}

/** Exact match of the name. */
export async function accountExists(sql: Sql, name: string): Promise<boolean> {
  return (await sql.em.count(Account, { name })) > 0;
}

/** @throws when there is no such account */
export async function readAccountName(sql: Sql, accountId: number): Promise<string> {
  return (await sql.em.findOneOrFail(Account, accountId)).name;
}

/** The preferences of an account. Without a registration key computers need none; -1 keeps audits forever. */
export type Preferences = Pick<
  Account,
  'title' | 'registrationKey' | 'autoRegister' | 'auditRetentionDays' | 'agentIntervals'
>;

/** Null when there is no such account. */
export async function findPreferences(sql: Sql, accountId: number): Promise<Preferences | null> {
  return sql.em.findOne(Account, accountId);
}

/** Changes the given fields; undefined ones are unchanged. */
export async function updatePreferences(tx: Sql, accountId: number, change: Partial<Preferences>) {
  await lockedAccount(tx).where('id', '=', accountId).execute();
  const account = await tx.em.findOne(Account, accountId);
  return account && tx.em.assign(account, change, { ignoreUndefined: true });
}

/** New rows may refer to it meanwhile: no lock mode of the entity manager is as weak. */
const lockedAccount = ({ em }: Sql) => em.getKysely().selectFrom('account').select('id').forNoKeyUpdate();
