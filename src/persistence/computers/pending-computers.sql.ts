import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import type { RegisteredInfo } from './computer.entity.ts';
import { registeredInfo } from './computer-columns.ts';
import type { ComputerScope } from './computers.sql.ts';

interface PendingComputerRow extends RegisteredInfo {
  id: number;
  title: string;
  hostname: string;
  creation_time: Date;
  client_tags: string[];
  access_group: string;
}

/** One page of pending computers in id order, and the total number. */
export async function listPendingComputers(db: Sql, { accountId, groups }: ComputerScope, page: PageRequest) {
  const [counts, rows] = await Promise.all([
    db.query<{ count: number }>(COUNT, { accountId, groups }),
    db.query<PendingComputerRow>(LIST, { accountId, groups, ...page }),
  ]);
  return { count: counts[0]!.count, rows };
}

/** Those of some computers that are pending and in scope, in id order, locked until the transaction ends. */
export async function lockPendingComputers(tx: Sql, { accountId, groups }: ComputerScope, ids: readonly number[]) {
  return tx.query<{ id: number; title: string }>(LOCK, { accountId, groups, ids });
}

export interface AcceptedComputer {
  id: number;
  /** Shared by a Windows host and its WSL instances; null for all others. */
  hostagent_uid: string | null;
}

/** Accepts pending computers, into another access group if one is given. @returns those that were pending */
export async function approveComputers(tx: Sql, ids: readonly number[], accessGroupId: number | null, now: Date) {
  return tx.query<AcceptedComputer>(APPROVE, { ids, accessGroupId, now });
}

const PENDING = `c.account_id = :accountId and c.state = 'pending' and not c.archived
  and (:groups::int[] is null or c.access_group_id = any(:groups))`;

const COUNT = `select count(*)::int as count from computer c where ${PENDING}`;

const LIST = `
  select c.id, c.title, c.hostname, c.created_at as creation_time, coalesce(i.client_tags, '{}') as client_tags,
    ${registeredInfo('c')}, g.name as access_group
  from (select c.id from computer c where ${PENDING} order by c.id limit :limit offset :offset) page
  join computer c on c.id = page.id
  join access_group g on g.id = c.access_group_id
  left join computer_inventory i on i.computer_id = c.id
  order by c.id`;

const LOCK = `select c.id, c.title from computer c where ${PENDING} and c.id = any(:ids::int[]) order by c.id for update`;

const APPROVE = `
  update computer set state = 'approved', registered_at = :now, access_group_id = coalesce(:accessGroupId, access_group_id)
  where id = any(:ids::int[]) and state = 'pending' returning id, hostagent_uid`;
