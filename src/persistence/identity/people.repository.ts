import { LockMode, raw } from '@mikro-orm/core';
import { ADMINISTRATOR_ROLE, STANDALONE_ACCOUNT } from '../../domain/identity/permissions.ts';
import type { Sql } from '../database/sql.ts';
import { Account } from './account.entity.ts';
import { Membership } from './membership.entity.ts';
import { Person } from './person.entity.ts';

export interface PersonRow {
  name: string;
  email: string;
  allowable_emails: string[];
  identity: string;
  timezone: string;
  last_login_time: Date | null;
  last_login_host: string | null;
  /** Name of an account. */
  preferred_account: string | null;
  /** The address awaiting confirmation. */
  pending_email: string | null;
}

export async function findPerson(sql: Sql, personId: number, now: Date): Promise<PersonRow | null> {
  const rows = await sql.query<PersonRow>(
    `select p.name, p.email, p.allowable_emails, p.identity, p.timezone, p.last_login_time, p.last_login_host,
       a.name as preferred_account, c.email as pending_email
     from person p left join account a on a.id = p.preferred_account_id
       left join email_change c on c.person_id = p.id and c.expires_at > :now
     where p.id = :personId`,
    { personId, now },
  );
  return rows[0] ?? null;
}

/** Ids of people by the given addresses, ignoring case and surrounding spaces. */
export async function findPeopleByEmail(sql: Sql, emails: readonly string[]): Promise<Map<string, number[]>> {
  const given = [...new Set(emails)];
  const rows = await sql.query<{ email: string; ids: number[] }>(
    `select t.given as email, array_agg(p.id) as ids
     from unnest(:given::text[], :emails::text[]) t(given, email) join person p on lower(p.email) = lower(t.email) group by 1`,
    { given, emails: given.map((email) => email.trim()) },
  );
  return new Map(rows.map(({ email, ids }) => [email, ids]));
}

export interface LockedPerson {
  name: string;
  email: string;
  password_hash: string | null;
  /** Created the first account, and still administers it. */
  operator: boolean;
  /** The token was ended by a logout, or with its access key. */
  token_revoked: boolean;
  /** Counters that end tokens. */
  token_epoch: number;
  system_epoch: number;
  /** Null without the account. */
  account_epoch: number | null;
}

/** A person's row with what ends a token, locked until the transaction ends. */
export async function lockPerson(
  tx: Sql,
  personId: number,
  token: { ids: readonly string[]; accountName: string; accessKey: string | null },
): Promise<LockedPerson | null> {
  const rows = await tx.query<LockedPerson>(
    `select name, email, password_hash, token_epoch,
       operator and exists (
         select from membership_role m join role r on r.id = m.role_id join account a on a.id = m.account_id
         where m.person_id = person.id and a.name = '${STANDALONE_ACCOUNT}' and r.name = '${ADMINISTRATOR_ROLE}') as operator,
       exists (select from revoked_token where token_id = any(:ids::text[]))
         or (:accessKey::text is not null and not exists (select from credential where access_key = :accessKey and person_id = :personId)) as token_revoked,
       (select value::int from system_setting where key = 'token_epoch') as system_epoch,
       (select token_epoch from account where name = :accountName) as account_epoch
     from person where id = :personId for update`,
    { ...token, personId },
  );
  return rows[0] ?? null;
}

export interface PersonChange {
  name?: string | undefined;
  timezone?: string | undefined;
  /** Absent: unchanged; null: none. */
  preferredAccount?: number | null | undefined;
}

/** Changes the given fields. */
export async function updatePerson(tx: Sql, personId: number, change: PersonChange): Promise<void> {
  const person = await tx.em.findOneOrFail(Person, personId);
  tx.em.assign(person, change, { ignoreUndefined: true });
}

/** A person's address, locked until the transaction ends; null when there is no such person. */
export async function lockEmail(tx: Sql, personId: number): Promise<string | null> {
  const person = await tx.em.findOne(Person, personId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return person?.email ?? null;
}

/** Whether another person has this address, ignoring case. @param personId - null for a new person */
export async function isEmailTaken(sql: Sql, email: string, personId: number | null): Promise<boolean> {
  const found = await sql.em
    .getKysely()
    .selectFrom('person_address')
    .select('person_id')
    .where('address', '=', (eb) => eb.fn<string>('lower', [eb.val(email)]))
    .executeTakeFirst();
  return found !== undefined && found.person_id !== personId;
}

/** Id of the account with this name if the person belongs to it. */
export async function findMembership(
  sql: Sql,
  person: number,
  accountName: string,
): Promise<{ accountId: number; title: string } | null> {
  const { em } = sql;
  const account = await em.findOne(Account, { name: accountName });
  if (!account || (await em.count(Membership, { account, person })) === 0) return null;
  return { accountId: account.id, title: account.title };
}

/** Stores a new password and ends every token of the person. */
export async function replacePassword(tx: Sql, personId: number, passwordHash: string): Promise<void> {
  await tx.em.nativeUpdate(Person, personId, { passwordHash, tokenEpoch: raw('token_epoch + 1') });
}
