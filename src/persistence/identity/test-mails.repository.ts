import type { Sql } from '../database/sql.ts';

/** Counts a test mail of a person unless there are `most` since the given time; safe under concurrency. */
export async function reserveTestMail(
  sql: Sql,
  personId: number,
  mail: { at: Date; since: Date; most: number },
): Promise<boolean> {
  const rows = await sql.query(
    `update person set test_mail_times = array(select t from unnest(test_mail_times) t where t > :since) || :at::timestamptz
     where id = :personId and cardinality(array(select t from unnest(test_mail_times) t where t > :since)) < :most returning id`,
    { ...mail, personId },
  );
  return rows.length > 0;
}

/** Reverts a count of this time. */
export async function releaseTestMail(sql: Sql, personId: number, at: Date): Promise<void> {
  await sql.query(
    `update person set test_mail_times = test_mail_times[:array_position(test_mail_times, :at::timestamptz) - 1]
       || test_mail_times[array_position(test_mail_times, :at::timestamptz) + 1:]
     where id = :personId and :at::timestamptz = any(test_mail_times)`,
    { personId, at },
  );
}

export async function findOldestTestMail(sql: Sql, personId: number, since: Date): Promise<Date | null> {
  const rows = await sql.query<{ oldest: Date | null }>(
    'select (select min(t) from unnest(test_mail_times) t where t > :since) as oldest from person where id = :personId',
    { personId, since },
  );
  return rows[0]?.oldest ?? null;
}
