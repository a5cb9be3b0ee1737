import type { Sql } from '../database/sql.ts';
import { isOpen } from '../database/status-sql.ts';

/** A computer that is to be put away or removed. */
export interface ComputerToRemove {
  id: number;
  title: string;
  archived: boolean;
}

/** What is to be known of some computers before they go, in id order. */
export async function findComputersToRemove(tx: Sql, computers: readonly number[]): Promise<ComputerToRemove[]> {
  return tx.query<ComputerToRemove & Record<string, unknown>>(
    'select id, title, archived from computer where id = any($1::int[]) order by id',
    [computers],
  );
}

/** The group whose operation of type `type` put a computer away; null when there is none. */
export async function findArchiveActivity(tx: Sql, computer: number, type: string): Promise<number | null> {
  const [row] = await tx.query<{ parent_id: number }>(
    'select parent_id from activity where computer_id = $1 and type = $2 order by id desc limit 1',
    [computer, type],
  );
  return row?.parent_id ?? null;
}

/**
 * Holds up the exchanges of some computers until the transaction ends.
 *
 * @remarks Exchanges lock the agent's row, then messages, then the computer: whoever does more to computers than
 * exchanges allow begins here.
 */
export async function lockAgents(tx: Sql, accountId: number, computers: readonly number[]): Promise<void> {
  await tx.query(LOCK_AGENTS, [accountId, computers]);
}

/** Open operations of some computers, whoever asked for them. */
export async function findOpenOperations(tx: Sql, accountId: number, computers: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ id: number }>(OPEN_OPERATIONS, [accountId, computers]);
  return rows.map(({ id }) => id);
}

/**
 * Takes the identity of some computers, their recovery keys, their places in profiles and licences, and their ties to
 * hosts and instances of theirs. What they reported stays.
 *
 * @remarks Their agents are unknown from the commit on. The caller holds {@link lockAgents}.
 */
export async function releaseComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  for (const table of HELD_BY_MEMBERS) await tx.query(`delete from ${table} where computer_id = any($1)`, [computers]);
  await tx.query(PASS_DEFAULT_ON, [computers]);
  await tx.query(UNTIE, [computers]);
}

/** Puts computers away: readable by id, and out of every list and scope. */
export async function markArchived(tx: Sql, computers: readonly number[]): Promise<void> {
  await tx.query('update computer set archived = true where id = any($1)', [computers]);
}

/**
 * Removes computers with everything they reported. Their activities stay, visible to those who see the access group
 * where they were.
 *
 * @remarks The caller holds {@link lockAgents}.
 */
export async function removeComputers(tx: Sql, computers: readonly number[]): Promise<void> {
  await releaseComputers(tx, computers);
  await tx.query(REMOVE_MESSAGES, [computers]);
  await tx.query('update computer set clone_id = null where clone_id = any($1)', [computers]);
  await tx.query('delete from computer where id = any($1)', [computers]);
}

/** Remembers where computers were, of which activities tell. */
export async function recordRemoved(tx: Sql, computers: readonly number[], now: Date): Promise<void> {
  await tx.query(REMEMBER, [computers, now]);
}

/** What a computer has only as a member of its fleet. */
const HELD_BY_MEMBERS = [
  'agent',
  'agent_identity',
  'computer_recovery_key',
  'computer_profile',
  'computer_license',
  'computer_contract',
] as const;

const LOCK_AGENTS = `
  select s.computer_id from agent s join computer c on c.id = s.computer_id
  where c.account_id = $1 and s.computer_id = any($2::int[]) order by s.computer_id for update of s`;

const OPEN_OPERATIONS = `
  select id from activity
  where account_id = $1 and computer_id = any($2::int[]) and ${isOpen('status')}`;

// The oldest of the instances that stay becomes the default one of its family, also while the host is away.
const PASS_DEFAULT_ON = `
  update computer c set is_default_child = true
  from (
    select min(k.id) as id from computer gone
    join computer k on k.account_id = gone.account_id and k.hostagent_uid = gone.hostagent_uid
    where gone.id = any($1) and gone.is_default_child and k.is_wsl and k.state = 'approved' and not k.archived
      and k.id <> all($1)
    group by gone.account_id, gone.hostagent_uid) heir
  where c.id = heir.id`;

const UNTIE = `
  update computer set parent_id = null, is_default_child = case when id = any($1) and is_wsl then false else is_default_child end
  where id = any($1) or parent_id = any($1)`;

const REMOVE_MESSAGES = `
  delete from agent_message where activity_id in (select id from activity where computer_id = any($1))`;

const REMEMBER = `
  insert into removed_computer (id, account_id, access_group_id, title, removed_at)
  select c.id, c.account_id, c.access_group_id, c.title, $2 from computer c
  where c.id = any($1) and exists (select from activity a where a.computer_id = c.id)
  on conflict (id) do nothing`;
