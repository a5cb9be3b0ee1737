import type { Sql } from '../database/sql.ts';
import { Person } from './person.entity.ts';

/** Counts a test mail of a person unless there are `most` since the given time; safe under concurrency. */
export async function reserveTestMail(sql: Sql, personId: number, mail: { at: Date; since: Date; most: number }) {
  const rows = await sql.query<{ id: number }>(
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

/** Time of the first test mail after `since`; null for none. */
export async function findOldestTestMail(sql: Sql, personId: number, since: Date): Promise<Date | null> {
  const person = await sql.em.findOne(Person, personId);
  const times = person?.testMailTimes.filter((time) => time > since) ?? [];
  return times.length === 0 ? null : new Date(Math.min(...times.map(Number)));
}

/** Null when counted, else the time of the oldest of `most`. The caller holds the account's rights lock. */
export async function countInvitation(
  tx: Sql,
  invited: { accountId: number; email: string; at: Date; since: Date; most: number },
): Promise<Date | null> {
  const { accountId, email, at, since, most } = invited;
  const kysely = tx.em.getKysely();
  await kysely.deleteFrom('invitation_mail').where('account_id', '=', accountId).where('at', '<=', since).execute();
  const { count, oldest } = await kysely
    .selectFrom('invitation_mail')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('at').as('oldest')])
    .where('account_id', '=', accountId)
    .where('address', '=', ({ fn, val }) => fn<string>('lower', [val(email)]))
    .executeTakeFirstOrThrow();
  if (count >= most) return oldest;
  const counted = kysely.insertInto('invitation_mail');
  await counted.values(({ fn, val }) => ({ account_id: accountId, address: fn('lower', [val(email)]), at })).execute();
  return null;
}

/** Reverts a count of this time. */
export async function uncountInvitation(sql: Sql, accountId: number, email: string, at: Date): Promise<void> {
  await sql.query(
    `delete from invitation_mail where ctid in (
       select ctid from invitation_mail where account_id = :accountId and address = lower(:email) and at = :at limit 1)`,
    { accountId, email, at },
  );
}
