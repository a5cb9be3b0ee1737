import type { Sql } from '../database/sql.ts';

/** A change of address that waits for its confirmation. */
export interface EmailChange {
  personId: number;
  email: string;
  /** Null when no token was mailed. */
  tokenDigest: Buffer | null;
  expiresAt: Date;
}

/** Stores a person's change of address in place of the one that waited. */
export async function saveEmailChange(tx: Sql, change: EmailChange): Promise<void> {
  await tx.query(
    `insert into email_change (person_id, email, token_digest, expires_at) values ($1, $2, $3, $4)
     on conflict (person_id) do update
     set email = excluded.email, token_digest = excluded.token_digest, expires_at = excluded.expires_at`,
    [change.personId, change.email, change.tokenDigest, change.expiresAt],
  );
}

/** Withdraws what waited for a person's confirmation. */
export async function deleteEmailChange(tx: Sql, personId: number): Promise<void> {
  await tx.query('delete from email_change where person_id = $1', [personId]);
}

/**
 * Takes the change that a token or an address is of, so that it can be carried out once.
 *
 * @returns the new address; null when there is no such change, or it has expired
 */
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

/** How an address stands to a person and to all others; addresses compare without regard to case. */
export async function compareEmail(
  sql: Sql,
  personId: number,
  email: string,
): Promise<{ isOwn: boolean; isTaken: boolean } | null> {
  const rows = await sql.query<{ isOwn: boolean; isTaken: boolean }>(
    `select lower(email) = lower($2) as "isOwn",
       exists (select from person_address where address = lower($2) and person_id <> $1) as "isTaken"
     from person where id = $1`,
    [personId, email],
  );
  return rows[0] ?? null;
}

/** Writes a person's address otherwise, in another case; one that they do not have any more is left alone. */
export async function updateEmailCase(tx: Sql, personId: number, email: string): Promise<void> {
  await tx.query(
    'update person set email = $2::text, allowable_emails = array[$2::text] where id = $1 and lower(email) = lower($2)',
    [personId, email],
  );
}

/**
 * Gives a person an address, which is their only one then.
 *
 * @throws what `isAddressTaken` tells
 */
export async function setEmail(tx: Sql, personId: number, email: string): Promise<void> {
  await tx.query('update person set email = $2::text, allowable_emails = array[$2::text] where id = $1', [
    personId,
    email,
  ]);
}
