import { LockMode } from '@mikro-orm/core';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import type { Paged } from './administrators.repository.ts';
import { Invitation, InvitationRole } from './invitation.entity.ts';

export interface InvitationRow {
  id: number;
  secure_id: string;
  /** Title of the account. */
  account: string;
  name: string;
  email: string;
  creation_time: Date;
  expires_at: Date;
  /** Whether only the person with its address may accept it. */
  bound: boolean;
}

/** An invitation is open until it expires. */
const SELECT = `
  select i.id, i.secure_id, a.title as account, i.name, i.email, i.creation_time, i.expires_at, i.bound
  from invitation i join account a on a.id = i.account_id where i.account_id = :accountId and i.expires_at > :now`;

/** Open invitations of an account, oldest first. */
export async function listInvitations(
  sql: Sql,
  accountId: number,
  now: Date,
  page: PageRequest,
): Promise<Paged<InvitationRow>> {
  const [results, counted] = await Promise.all([
    sql.query<InvitationRow>(`${SELECT} order by i.creation_time, i.id limit :limit offset :offset`, {
      accountId,
      now,
      limit: page.limit,
      offset: page.offset,
    }),
    sql.query<{ count: number }>(
      'select count(*)::int as count from invitation where account_id = :accountId and expires_at > :now',
      { accountId, now },
    ),
  ]);
  return { count: counted[0]!.count, results };
}

export async function findInvitation(
  sql: Sql,
  accountId: number,
  id: number,
  now: Date,
): Promise<InvitationRow | null> {
  const rows = await sql.query<InvitationRow>(`${SELECT} and i.id = :id`, { accountId, now, id });
  return rows[0] ?? null;
}

export interface OpenInvitation {
  id: number;
  account_id: number;
  account_name: string;
  account_title: string;
  name: string;
  email: string;
}

/** The open invitation with this secret, or null. */
export async function findInvitationBySecureId(sql: Sql, secureId: string, now: Date): Promise<OpenInvitation | null> {
  const rows = await sql.query<OpenInvitation>(
    `select i.id, i.account_id, a.name as account_name, a.title as account_title, i.name, i.email
     from invitation i join account a on a.id = i.account_id where i.secure_id = :secureId and i.expires_at > :now`,
    { secureId, now },
  );
  return rows[0] ?? null;
}

/** Whether a person may use an invitation, unbound or bound to their address; null when it no longer exists. */
export async function isOpenTo(
  sql: Sql,
  invitationId: number,
  who: { email: string } | { personId: number },
): Promise<boolean | null> {
  const [email, value] =
    'email' in who ? ['$2', who.email] : ['(select email from person where id = $2)', who.personId];
  const rows = await sql.query<{ open: boolean }>(
    `select not bound or lower(email) = lower(${email}) as open from invitation where id = $1`,
    [invitationId, value],
  );
  return rows[0]?.open ?? null;
}

export interface NewInvitation {
  accountId: number;
  secureId: string;
  name: string;
  email: string;
  bound: boolean;
  at: Date;
  expiresAt: Date;
}

/** Stores an invitation, and deletes expired ones of the account. */
export async function insertInvitation(
  tx: Sql,
  { accountId: account, at, ...invitation }: NewInvitation,
  roleIds: readonly number[],
): Promise<number> {
  await tx.em.nativeDelete(Invitation, { account, expiresAt: { $lte: at } });
  const id = await tx.em.insert(Invitation, { ...invitation, account, creationTime: at });
  await tx.em.insertMany(
    InvitationRole,
    roleIds.map((role) => ({ invitation: id, role })),
  );
  return id;
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
  await tx.query('delete from invitation_mail where account_id = :accountId and at <= :since', { accountId, since });
  const [counted] = await tx.query<{ count: number; oldest: Date | null }>(
    'select count(*)::int as count, min(at) as oldest from invitation_mail where account_id = :accountId and address = lower(:email)',
    { accountId, email },
  );
  if (counted!.count >= most) return counted!.oldest;
  await tx.query('insert into invitation_mail (account_id, address, at) values (:accountId, lower(:email), :at)', {
    accountId,
    email,
    at,
  });
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

/** Deletes an invitation; of concurrent calls only the first gets its roles, the others null. */
export async function claimInvitation(tx: Sql, id: number): Promise<{ roleIds: number[] } | null> {
  const locked = await tx.em.findOne(Invitation, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!locked) return null;
  const roles = await tx.em.find(InvitationRole, { invitation: id });
  const roleIds = roles.map(({ role }) => role.id);
  tx.em.remove(locked);
  return { roleIds };
}
