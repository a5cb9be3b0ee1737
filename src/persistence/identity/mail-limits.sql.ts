import type { Sql } from '../database/sql.ts';

/** Counts a test mail of a person unless there are `most` since the given time; safe under concurrency. */
export async function reserveTestMail(
  sql: Sql,
  personId: number,
  mail: { at: Date; since: Date; most: number },
): Promise<boolean> {
  const rows = await sql.query<{ id: number }>(
    `update person set test_mail_times = array(select t from unnest(test_mail_times) t where t > $2) || $3::timestamptz
     where id = $1 and cardinality(array(select t from unnest(test_mail_times) t where t > $2)) < $4 returning id`,
    [personId, mail.since, mail.at, mail.most],
  );
  return rows.length > 0;
}

/** Reverts a count of this time. */
export async function releaseTestMail(sql: Sql, personId: number, at: Date): Promise<void> {
  await sql.query(
    `update person set test_mail_times = test_mail_times[:array_position(test_mail_times, $2::timestamptz) - 1]
       || test_mail_times[array_position(test_mail_times, $2::timestamptz) + 1:]
     where id = $1 and $2::timestamptz = any(test_mail_times)`,
    [personId, at],
  );
}

export async function findOldestTestMail(sql: Sql, personId: number, since: Date): Promise<Date | null> {
  const rows = await sql.query<{ oldest: Date | null }>(
    'select (select min(t) from unnest(test_mail_times) t where t > $2) as oldest from person where id = $1',
    [personId, since],
  );
  return rows[0]?.oldest ?? null;
}

/**
 * Counts an invitation of an account to an address, unless there are `most` since the given time.
 * @param tx - a transaction that holds the account's rights lock, which prevents concurrent counts
 * @returns null, or when there are too many the time of the oldest of them
 */
export async function countInvitation(
  tx: Sql,
  invited: { accountId: number; email: string; at: Date; since: Date; most: number },
): Promise<Date | null> {
  const { accountId, email, at, since, most } = invited;
  await tx.query('delete from invitation_mail where account_id = $1 and at <= $2', [accountId, since]);
  const [counted] = await tx.query<{ count: number; oldest: Date | null }>(
    'select count(*)::int as count, min(at) as oldest from invitation_mail where account_id = $1 and address = lower($2)',
    [accountId, email],
  );
  if (counted!.count >= most) return counted!.oldest;
  const insert = 'insert into invitation_mail (account_id, address, at) values ($1, lower($2), $3)';
  await tx.query(insert, [accountId, email, at]);
  return null;
}

/** Reverts a count of this time. */
export async function uncountInvitation(sql: Sql, accountId: number, email: string, at: Date): Promise<void> {
  await sql.query(
    `delete from invitation_mail where ctid in (
       select ctid from invitation_mail where account_id = $1 and address = lower($2) and at = $3 limit 1)`,
    [accountId, email, at],
  );
}
