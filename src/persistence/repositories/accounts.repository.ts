import type { SeedRole } from '../../domain/permissions.ts';
import type { Database, Sql } from '../sql.ts';

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
}

/**
 * Makes an account with its root access group, its roles and its first administrator, all or nothing.
 *
 * @returns null when an account of that name exists; the account's name is unique, so of two at once one waits and loses
 * @throws a unique violation when the person's address is taken
 */
export function insertAccountWithAdministrator(
  db: Database,
  account: NewAccount,
  person: NewPerson,
  roles: { all: readonly SeedRole[]; administrator: string },
): Promise<{ accountId: number; personId: number } | null> {
  return db.transaction(async (tx) => {
    const accountId = await insertAccount(tx, account);
    if (accountId === null) return null;
    const personId = await insertPerson(tx, person, accountId);
    await seedRoles(tx, accountId, roles.all);
    await tx.query('insert into membership (account_id, person_id) values ($1, $2)', [accountId, personId]);
    await tx.query(
      `insert into membership_role (account_id, person_id, role_id)
       select $1, $2, id from role where account_id = $1 and name = $3`,
      [accountId, personId, roles.administrator],
    );
    return { accountId, personId };
  });
}

async function insertAccount(tx: Sql, account: NewAccount): Promise<number | null> {
  const rows = await tx.query<{ id: number }>(
    `insert into account (name, title, auto_register, registration_key) values ($1, $2, $3, $4)
     on conflict (name) do nothing returning id`,
    [account.name, account.title, account.autoRegister, account.registrationKey],
  );
  return rows[0]?.id ?? null;
}

async function insertPerson(tx: Sql, person: NewPerson, accountId: number): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into person (name, email, allowable_emails, identity, password_hash, preferred_account_id)
     values ($1, $2::text, array[$2::text], $2::text, $3, $4) returning id`,
    [person.name, person.email, person.passwordHash, accountId],
  );
  return rows[0]!.id;
}

async function seedRoles(tx: Sql, accountId: number, roles: readonly SeedRole[]): Promise<void> {
  await tx.query(`insert into access_group (account_id, name, title) values ($1, 'global', 'Global access')`, [
    accountId,
  ]);
  await tx.query(
    `insert into role (account_id, name, description, read_only, permissions, global_permissions)
     select $1, r.name, r.description, r."readOnly", r.permissions, r."globalPermissions"
     from jsonb_to_recordset($2::jsonb) as r(name text, description text, "readOnly" boolean, permissions text[], "globalPermissions" text[])`,
    [accountId, JSON.stringify(roles)],
  );
  await tx.query(
    `insert into role_access_group (role_id, access_group_id)
     select r.id, g.id from role r join access_group g on g.account_id = r.account_id and g.parent_id is null
     where r.account_id = $1`,
    [accountId],
  );
}

/** Tells whether an account of this name exists. */
export async function accountExists(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql.query<{ found: boolean }>('select exists (select 1 from account where name = $1) as found', [
    name,
  ]);
  return rows[0]!.found;
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

/** An account as its administrators see it. */
export async function findAccount(sql: Sql, accountId: number): Promise<AccountRow | null> {
  const rows = await sql.query<AccountRow>(
    `select a.name, a.title, a.creation_time, a.disabled, a.disabled_reason, a.subdomain, a.salesforce_account_key,
       coalesce((select jsonb_agg(jsonb_build_object('name', p.name, 'email', p.email) order by p.id)
         from membership m join person p on p.id = m.person_id where m.account_id = a.id), '[]') as administrators,
       (select count(*)::int from computer c where c.account_id = a.id and c.state = 'approved' and not c.archived) as computers,
       (select max(p.last_login_time) from membership m join person p on p.id = m.person_id where m.account_id = a.id)
         as last_login_time
     from account a where a.id = $1`,
    [accountId],
  );
  return rows[0] ?? null;
}
