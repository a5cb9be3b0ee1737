import { LockMode } from '@mikro-orm/core';
import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { Invitation, InvitationRole } from './invitation.entity.ts';
import { sameEmail } from './people.repository.ts';

function openInvitations({ em }: Sql, now: Date) {
  const invitations = em.getKysely().selectFrom('invitation as i').innerJoin('account as a', 'a.id', 'i.account_id');
  return invitations.select(['i.id', 'i.name', 'i.email', 'i.bound']).where('i.expires_at', '>', now);
}

function ofAccount(sql: Sql, account: number, now: Date) {
  return openInvitations(sql, now)
    .select(['i.secure_id', 'a.title as account', 'i.creation_time', 'i.expires_at'])
    .where('i.account_id', '=', account);
}

export type InvitationRow = Awaited<ReturnType<typeof listInvitations>>['results'][number];

/** Open invitations of an account, oldest first. */
export async function listInvitations(sql: Sql, account: number, now: Date, { limit, offset }: PageRequest) {
  const inOrder = ofAccount(sql, account, now).orderBy('i.creation_time').orderBy('i.id');
  const [results, count] = await Promise.all([
    inOrder.limit(limit).offset(offset).execute(),
    sql.em.count(Invitation, { account, expiresAt: { $gt: now } }),
  ]);
  return { count, results };
}

/** Undefined when it does not exist, was accepted or has expired. */
export function findInvitation(sql: Sql, account: number, id: number, now: Date): Promise<InvitationRow | undefined> {
  return ofAccount(sql, account, now).where('i.id', '=', id).executeTakeFirst();
}

export type OpenInvitation = NonNullable<Awaited<ReturnType<typeof findInvitationBySecureId>>>;

/** The open invitation with this secret. */
export function findInvitationBySecureId(sql: Sql, secureId: string, now: Date) {
  return openInvitations(sql, now)
    .select(['i.account_id', 'a.name as account_name', 'a.title as account_title'])
    .where('i.secure_id', '=', secureId)
    .executeTakeFirst();
}

/** Whether an invitation is unbound, or bound to this address; false when it no longer exists. */
export async function isOpenTo({ em }: Sql, id: number, email: string): Promise<boolean> {
  return (await em.count(Invitation, { id, $or: [{ bound: false }, sameEmail(email)] })) > 0;
}

/** Stores an invitation, and deletes expired ones of the account. */
export async function insertInvitation(
  tx: Sql,
  account: number,
  invitation: Omit<Invitation, 'id' | 'account'>,
  roleIds: readonly number[],
): Promise<number> {
  await tx.em.nativeDelete(Invitation, { account, expiresAt: { $lte: invitation.creationTime } });
  const created = tx.em.create(Invitation, { ...invitation, account });
  for (const role of roleIds) tx.em.create(InvitationRole, { invitation: created, role });
  await tx.em.flush();
  return created.id;
}

/** Deletes an invitation; of concurrent calls only the first gets the ids of its roles, the others null. */
export async function claimInvitation(tx: Sql, id: number): Promise<number[] | null> {
  const locked = await tx.em.findOne(Invitation, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!locked) return null;
  const roles = await tx.em.find(InvitationRole, { invitation: id });
  tx.em.remove(locked);
  return roles.map(({ role }) => role.id);
}
