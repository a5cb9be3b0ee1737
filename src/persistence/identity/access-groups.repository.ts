import type { PageRequest } from '../database/page.ts';
import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';
import type { Paged } from './administrators.repository.ts';

export interface AccessGroupRow {
  id: number;
  name: string;
  title: string;
  /** Name of the parent; empty for the root. */
  parent: string;
  /** Names of the children, alphabetical, joined by commas. */
  children: string;
}

const SELECT = `
  select g.id, g.name, g.title, coalesce(parent.name, '') as parent,
    coalesce((select string_agg(c.name, ',' order by c.name) from access_group c where c.parent_id = g.id), '') as children
  from access_group g left join access_group parent on parent.id = g.parent_id where g.account_id = :accountId`;

/** Access groups of an account by id: the root first. */
export async function listAccessGroups(sql: Sql, accountId: number, page: PageRequest): Promise<Paged<AccessGroupRow>> {
  const [results, counted] = await Promise.all([
    sql.query<AccessGroupRow>(`${SELECT} order by g.id limit :limit offset :offset`, {
      accountId,
      limit: page.limit,
      offset: page.offset,
    }),
    sql.query<{ count: number }>('select count(*)::int as count from access_group where account_id = :accountId', {
      accountId,
    }),
  ]);
  return { count: counted[0]!.count, results };
}

export async function findAccessGroup(sql: Sql, accountId: number, name: string): Promise<AccessGroupRow | null> {
  const rows = await sql.query<AccessGroupRow>(`${SELECT} and g.name = :name`, { accountId, name });
  return rows[0] ?? null;
}

/** Ids of named access groups, by name. Unknown names are absent. */
export async function findAccessGroupIds(
  sql: Sql,
  account: number,
  names: readonly string[],
): Promise<Map<string, number>> {
  const groups = await sql.em.find(AccessGroup, { account, name: { $in: [...names] } }, { fields: ['name'] });
  return new Map(groups.map(({ id, name }) => [name, id]));
}

/** Whether another group than `name` has this title. */
export async function isTitleTaken(sql: Sql, account: number, title: string, name: string | null): Promise<boolean> {
  const group = await sql.em.findOne(AccessGroup, { account, title }, { fields: ['name'] });
  return group !== null && group.name !== name;
}

export async function insertAccessGroup(
  tx: Sql,
  group: { account: number; name: string; title: string; parent: number },
): Promise<void> {
  await tx.em.insert(AccessGroup, group);
}

export async function updateAccessGroupTitle(tx: Sql, groupId: number, title: string): Promise<void> {
  await tx.em.nativeUpdate(AccessGroup, groupId, { title });
}

/**
 * Removes a group; its children, computers, USG profiles and scripts move to its parent, roles lose it. A computer that
 * enrols into it concurrently is moved too, or fails and enrols again.
 */
export async function deleteAccessGroup(tx: Sql, groupId: number): Promise<void> {
  const [group] = await tx.query<{ parent_id: number }>(
    'select parent_id from access_group where id = :groupId for update',
    { groupId },
  );
  const move = [groupId, group!.parent_id];
  await tx.query('update access_group set parent_id = $2 where parent_id = $1', move);
  // Locked in id order, as everywhere: the update has no order, and an exchange may hold some rows already.
  await tx.query('select id from computer where access_group_id = :groupId order by id for no key update', { groupId });
  await tx.query('update computer set access_group_id = $2 where access_group_id = $1', move);
  await tx.query('update removed_computer set access_group_id = $2 where access_group_id = $1', move);
  await tx.query('update usg_profile set access_group_id = $2 where access_group_id = $1', move);
  await tx.query('update script set access_group_id = $2 where access_group_id = $1', move);
  await tx.query('delete from access_group where id = :groupId', { groupId });
}
