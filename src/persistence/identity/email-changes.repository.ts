import type { Sql } from '../database/sql.ts';
import { EmailChange, Person } from './person.entity.ts';

/** Replaces an earlier pending change. @param change - without a token digest if no token was mailed */
export async function saveEmailChange(
  tx: Sql,
  change: { person: number; email: string; tokenDigest: Buffer | null; expiresAt: Date },
): Promise<void> {
  await tx.em.upsert(EmailChange, change);
}

export async function deleteEmailChange(tx: Sql, person: number): Promise<void> {
  await tx.em.nativeDelete(EmailChange, { person });
}

/** Consumes a pending change by token or address. @returns the new address; null when it is missing or has expired */
export async function takeEmailChange(
  tx: Sql,
  personId: number,
  by: { tokenDigest: Buffer } | { email: string },
  now: Date,
): Promise<string | null> {
  const [where, value] = 'email' in by ? ['lower(email) = lower($2)', by.email] : ['token_digest = $2', by.tokenDigest];
  const rows = await tx.query<{ email: string }>(
    `delete from email_change where person_id = $1 and ${where} and expires_at > $3 returning email`,
    [personId, value, now],
  );
  return rows[0]?.email ?? null;
}

/** Whether an address belongs to the person or to another; case-insensitive. */
export async function compareEmail(
  sql: Sql,
  personId: number,
  email: string,
): Promise<{ isOwn: boolean; isTaken: boolean } | null> {
  const rows = await sql.query<{ isOwn: boolean; isTaken: boolean }>(
    `select lower(email) = lower(:email) as "isOwn",
       exists (select from person_address where address = lower(:email) and person_id <> :personId) as "isTaken"
     from person where id = :personId`,
    { personId, email },
  );
  return rows[0] ?? null;
}

/** Changes the case of a person's address; no effect if they no longer have it. */
export async function updateEmailCase(tx: Sql, personId: number, email: string): Promise<void> {
  await tx.query(
    'update person set email = :email::text, allowable_emails = array[:email::text] where id = :personId and lower(email) = lower(:email)',
    { personId, email },
  );
}

/** Sets the only address of a person. @throws an error for which `isAddressTaken` is true */
export async function setEmail(tx: Sql, personId: number, email: string): Promise<void> {
  await tx.em.nativeUpdate(Person, personId, { email, allowableEmails: [email] });
}
