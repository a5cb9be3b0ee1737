import type { PageRequest } from '../page.ts';
import type { Sql } from '../sql.ts';
import type { Paged } from './administrators.repository.ts';

export interface InvitationRow {
  id: number;
  secure_id: string;
  /** Title of the account. */
  account: string;
  name: string;
  email: string;
  creation_time: Date;
}

const SELECT = `
  select i.id, i.secure_id, a.title as account, i.name, i.email, i.creation_time
  from invitation i join account a on a.id = i.account_id where i.account_id = $1`;

/** Open invitations of an account, oldest first. */
export async function listInvitations(sql: Sql, accountId: number, page: PageRequest): Promise<Paged<InvitationRow>> {
  const [results, counted] = await Promise.all([
    sql.query<InvitationRow>(`${SELECT} order by i.creation_time, i.id limit $2 offset $3`, [
      accountId,
      page.limit,
      page.offset,
    ]),
    sql.query<{ count: number }>('select count(*)::int as count from invitation where account_id = $1', [accountId]),
  ]);
  return { count: counted[0]!.count, results };
}

/** One open invitation of an account, or null. */
export async function findInvitation(sql: Sql, accountId: number, id: number): Promise<InvitationRow | null> {
  const rows = await sql.query<InvitationRow>(`${SELECT} and i.id = $2`, [accountId, id]);
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
export async function findInvitationBySecureId(sql: Sql, secureId: string): Promise<OpenInvitation | null> {
  const rows = await sql.query<OpenInvitation>(
    `select i.id, i.account_id, a.name as account_name, a.title as account_title, i.name, i.email
     from invitation i join account a on a.id = i.account_id where i.secure_id = $1`,
    [secureId],
  );
  return rows[0] ?? null;
}

export async function insertInvitation(
  tx: Sql,
  invitation: { accountId: number; secureId: string; name: string; email: string; at: Date },
  roleIds: readonly number[],
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into invitation (account_id, secure_id, name, email, creation_time) values ($1, $2, $3, $4, $5) returning id`,
    [invitation.accountId, invitation.secureId, invitation.name, invitation.email, invitation.at],
  );
  const { id } = rows[0]!;
  await tx.query('insert into invitation_role (invitation_id, role_id) select $1, unnest($2::int[])', [id, roleIds]);
  return id;
}

/** Takes an invitation's row under lock, for whoever comes first; null once it is used or gone. */
export async function takeInvitation(tx: Sql, id: number): Promise<{ roleIds: number[] } | null> {
  const locked = await tx.query('select id from invitation where id = $1 for update', [id]);
  if (locked.length === 0) return null;
  const rows = await tx.query<{ role_id: number }>('select role_id from invitation_role where invitation_id = $1', [
    id,
  ]);
  await tx.query('delete from invitation where id = $1', [id]);
  return { roleIds: rows.map(({ role_id }) => role_id) };
}
