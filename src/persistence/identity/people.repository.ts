import { LockMode, raw } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { Account } from './account.entity.ts';
import { Membership } from './membership.entity.ts';
import { EmailChange, Person } from './person.entity.ts';

export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPerson>>>;

/** A person, with the name of the preferred account and the address that awaits confirmation. */
export function findPerson(sql: Sql, personId: number, now: Date) {
  return sql.em
    .getKysely()
    .selectFrom('person as p')
    .leftJoin('account as a', 'a.id', 'p.preferred_account_id')
    .leftJoin('email_change as c', (on) => on.onRef('c.person_id', '=', 'p.id').on('c.expires_at', '>', now))
    .select(['p.name', 'p.email', 'p.allowable_emails', 'p.identity', 'p.timezone'])
    .select(['p.last_login_time', 'p.last_login_host', 'a.name as preferred_account', 'c.email as pending_email'])
    .where('p.id', '=', personId)
    .executeTakeFirst();
}

/** What PAM needs to check a person's password. */
export async function findIdentity(sql: Sql, personId: number) {
  const person = await sql.em.findOne(Person, personId);
  return person && { identity: person.identity, storedHash: person.passwordHash };
}

/** Absent: unchanged; for the account, null: none. */
export type PersonChange = Partial<Pick<Person, 'name' | 'timezone'>> & { preferredAccount?: number | null };

/** Changes the given fields. */
export async function updatePerson(tx: Sql, personId: number, change: PersonChange): Promise<void> {
  const person = await tx.em.findOneOrFail(Person, personId);
  tx.em.assign(person, change, { ignoreUndefined: true });
  await tx.em.flush();
}

/** A person's address, locked until the transaction ends. */
export async function lockEmail(tx: Sql, personId: number): Promise<string> {
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
  return (await tx.em.findOneOrFail(Person, personId, lock)).email;
}

/** Replaces the hash of the same password, unless the password has changed meanwhile. */
export async function rehashPassword(sql: Sql, id: number, hashes: { from: string; to: string }): Promise<void> {
  await sql.em.nativeUpdate(Person, { id, passwordHash: hashes.from }, { passwordHash: hashes.to });
}

/** Id of the account with this name if the person belongs to it. */
export async function findMembership(sql: Sql, person: number, accountName: string) {
  const { em } = sql;
  const account = await em.findOne(Account, { name: accountName });
  if (!account || (await em.count(Membership, { account, person })) === 0) return null;
  return { accountId: account.id, title: account.title };
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

/** Whether a person has this address, ignoring case. */
export async function isOwnEmail(sql: Sql, id: number, email: string): Promise<boolean> {
  return (await sql.em.count(Person, { id, ...sameEmail(email) })) > 0;
}

/** Changes the case of a person's address; no effect if they no longer have it. */
export async function updateEmailCase(tx: Sql, id: number, email: string): Promise<void> {
  await tx.em.nativeUpdate(Person, { id, ...sameEmail(email) }, { email, allowableEmails: [email] });
}

/** Sets the only address of a person. @throws an error for which `isAddressTaken` is true */
export async function setEmail({ em }: Sql, personId: number, email: string): Promise<void> {
  em.assign(await em.findOneOrFail(Person, personId), { email, allowableEmails: [email] });
  await em.flush();
}

/** Replaces an earlier pending change. @param change - without a token digest if no token was mailed */
export async function saveEmailChange(
  tx: Sql,
  person: number,
  change: Pick<EmailChange, 'email' | 'tokenDigest' | 'expiresAt'>,
): Promise<void> {
  await tx.em.upsert(EmailChange, { person, ...change });
}

/** Idempotent. */
export async function deleteEmailChange(tx: Sql, person: number): Promise<void> {
  await tx.em.nativeDelete(EmailChange, { person });
}

/** By token or address; the caller has locked the person. Null when missing or expired, else the new address. */
export async function takeEmailChange(
  tx: Sql,
  person: number,
  by: { tokenDigest: Buffer } | { email: string },
  now: Date,
): Promise<string | null> {
  const wanted = 'email' in by ? sameEmail(by.email) : by;
  const change = await tx.em.findOne(EmailChange, { person, expiresAt: { $gt: now }, ...wanted });
  if (change) tx.em.remove(change);
  return change?.email ?? null;
}

/** Condition on the addresses of a table, in any case. */
export function sameEmail(email: string) {
  return { [raw('lower(email)')]: raw('lower(?)', [email]) };
}
