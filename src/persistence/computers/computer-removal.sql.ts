import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';

type ComputerToRemove = Row<'computer', 'id, title, archived'>;

/** By id. */
export async function findComputersToRemove({ em }: Sql, ids: readonly number[]): Promise<ComputerToRemove[]> {
  const computers = em.getKysely().selectFrom('computer').select(['id', 'title', 'archived']);
  return computers
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .orderBy('id')
    .execute();
}

/** The group whose operation of type `type` archived a computer; null for none. */
export async function findArchiveActivity(tx: Sql, computer: number, type: string): Promise<number | null> {
  const found = tx.em.getKysely().selectFrom('activity').select('parent_id');
  const latest = found.where('computer_id', '=', computer).where('type', '=', type).orderBy('id', 'desc').limit(1);
  return (await latest.executeTakeFirst())?.parent_id ?? null;
}

/** Blocks exchanges until commit. These lock the agent, then messages, then the computer: others must do the same. */
export async function lockAgents(tx: Sql, accountId: number, computers: readonly number[]): Promise<void> {
  await tx.query(LOCK_AGENTS, { accountId, computers });
}

/** Ids of the open operations of some computers, in no order. */
export async function findOpenOperations(tx: Sql, accountId: number, computers: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(OPEN_OPERATIONS, { accountId, computers });
  return rows.map(({ id }) => id);
}

/** Deletes identities, keys, profiles, licences and WSL links. The caller holds {@link lockAgents}. */
export async function releaseComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  for (const table of MEMBER_TABLES)
    await tx.query(`delete from ${table} where computer_id = any(:computers)`, { computers });
  await tx.query(MOVE_DEFAULT_CHILD, { computers });
  await tx.query(UNLINK, { computers });
}

/** The caller holds {@link lockAgents}. Idempotent. */
export async function markArchived(tx: Sql, computers: readonly number[]): Promise<void> {
  await tx.query('update computer set archived = true where id = any(:computers)', { computers });
}

/** Removes computers with all reported data, but not their activities. The caller holds {@link lockAgents}. */
export async function removeComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  await releaseComputers(tx, computers);
  await tx.query(REMOVE_MESSAGES, { computers });
  await tx.query('update computer set clone_id = null where clone_id = any(:computers)', { computers });
  await tx.query('delete from computer where id = any(:computers)', { computers });
}

/** Records the last access group of computers that have activities. */
export async function recordRemoved(tx: Sql, computers: readonly number[], now: Date): Promise<void> {
  await tx.query(RECORD_REMOVED, { computers, now });
}

const MEMBER_TABLES = [
  'agent',
  'agent_identity',
  'computer_recovery_key',
  'computer_profile',
  'computer_license',
  'computer_contract',
] as const;

const LOCK_AGENTS = `
  select s.computer_id from agent s join computer c on c.id = s.computer_id
  where c.account_id = :accountId and s.computer_id = any(:computers::int[]) order by s.computer_id for update of s`;

const OPEN_OPERATIONS = `
  select id from activity
  where account_id = :accountId and computer_id = any(:computers::int[]) and ${isOpen('status')}`;

// The oldest remaining instance becomes the default one of its family, even while the host is offline.
const MOVE_DEFAULT_CHILD = `
  update computer c set is_default_child = true
  from (
    select min(k.id) as id from computer removed
    join computer k on k.account_id = removed.account_id and k.hostagent_uid = removed.hostagent_uid
    where removed.id = any(:computers) and removed.is_default_child and k.is_wsl and k.state = 'approved' and not k.archived
      and k.id <> all(:computers)
    group by removed.account_id, removed.hostagent_uid) heir
  where c.id = heir.id`;

const UNLINK = `
  update computer set parent_id = null, is_default_child = case when id = any(:computers) and is_wsl then false else is_default_child end
  where id = any(:computers) or parent_id = any(:computers)`;

const REMOVE_MESSAGES = `
  delete from agent_message where activity_id in (select id from activity where computer_id = any(:computers))`;

const RECORD_REMOVED = `
  insert into removed_computer (id, account_id, access_group_id, title, removed_at)
  select c.id, c.account_id, c.access_group_id, c.title, :now from computer c
  where c.id = any(:computers) and exists (select from activity a where a.computer_id = c.id)
  on conflict (id) do nothing`;
