import { SEED_ROLES } from '../../src/domain/identity/permissions.ts';
import type { Database } from '../../src/persistence/database/sql.ts';
import { insertAccountWithAdministrator } from '../../src/persistence/identity/accounts.repository.ts';
import { hashPassword } from '../../src/services/identity/login/passwords.ts';

export const PASSWORD = 'correct horse';

const hashes = new Map<string, Promise<string>>();

/** One hash for each password: most people of tests have the same. */
function hashOf(password: string): Promise<string> {
  const hash = hashes.get(password) ?? hashPassword(password);
  hashes.set(password, hash);
  return hash;
}

/** Creates a further account with an administrator `<name>@fleet.example`. */
export async function createAccount(db: Database, name: string) {
  const email = `${name}@fleet.example`;
  const passwordHash = await hashOf(PASSWORD);
  const made = await db.transaction((tx) =>
    insertAccountWithAdministrator(
      tx,
      { name, title: `Account ${name}`, autoRegister: true, registrationKey: null },
      { email, name: `Administrator of ${name}`, passwordHash },
      { all: SEED_ROLES, administrator: 'GlobalAdmin' },
    ),
  );
  return { ...made!, email, password: PASSWORD };
}

/** Creates a member of an account with one role; with access groups, a new role limited to them. */
export async function createMember(
  db: Database,
  member: { accountId: number; email: string; role: string; groups?: string[]; password?: string },
) {
  const { accountId, email, password = PASSWORD } = member;
  const [person] = await db.query<{ id: number }>(
    `insert into person (name, email, allowable_emails, identity, password_hash)
     values ('Member', $1::text, array[$1::text], $1::text, $2) returning id`,
    [email, await hashOf(password)],
  );
  const personId = person!.id;
  await db.query('insert into membership (account_id, person_id) values ($1, $2)', [accountId, personId]);
  const roleId = member.groups
    ? await copyRole(db, accountId, member.role, email, member.groups)
    : (
        await db.query<{ id: number }>('select id from role where account_id = $1 and name = $2', [
          accountId,
          member.role,
        ])
      )[0]!.id;
  await db.query('insert into membership_role (account_id, person_id, role_id) values ($1, $2, $3)', [
    accountId,
    personId,
    roleId,
  ]);
  return { personId, email, password };
}

/** Creates an access group below another. */
export async function createGroup(db: Database, accountId: number, name: string, parent = 'global'): Promise<void> {
  await db.query(
    `insert into access_group (account_id, name, title, parent_id)
     select $1, $2, $2, id from access_group where account_id = $1 and name = $3`,
    [accountId, name, parent],
  );
}

async function copyRole(
  db: Database,
  accountId: number,
  role: string,
  name: string,
  groups: string[],
): Promise<number> {
  const [copy] = await db.query<{ id: number }>(
    `insert into role (account_id, name, permissions, global_permissions)
     select account_id, $3, permissions, global_permissions from role where account_id = $1 and name = $2 returning id`,
    [accountId, role, name],
  );
  await db.query(
    `insert into role_access_group (role_id, access_group_id)
     select $1, id from access_group where account_id = $2 and name = any($3)`,
    [copy!.id, accountId, groups],
  );
  return copy!.id;
}
