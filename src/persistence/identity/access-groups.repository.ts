import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import type { Sql } from '../database/sql.ts';
import { AccessGroup } from './access-group.entity.ts';

/** Ids and names of all groups of an account, the root first. */
export async function listAccessGroupNames({ em }: Sql, account: number): Promise<Array<{ id: number; name: string }>> {
  return em
    .getKysely()
    .selectFrom('access_group')
    .select(['id', 'name'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute();
}

/** Whether another group than `name` has this title. */
export async function isTitleTaken(sql: Sql, account: number, title: string, name: string | null): Promise<boolean> {
  const group = await sql.em.findOne(AccessGroup, { account, title });
  return group !== null && group.name !== name;
}

/** The caller holds the rights lock and has checked that name and title are free. */
export function insertAccessGroup({ em }: Sql, group: RequiredEntityData<AccessGroup>): void {
  em.create(AccessGroup, group);
}

/** The caller holds the rights lock and has checked that the title is free. */
export async function updateAccessGroupTitle({ em }: Sql, groupId: number, title: string): Promise<void> {
  em.assign(await em.findOneOrFail(AccessGroup, groupId), { title });
}

/** Moves its content to the parent; roles lose it. A computer enrolling meanwhile is moved too, or enrols again. */
export async function deleteAccessGroup({ em }: Sql, groupId: number): Promise<void> {
  const group = await em.findOneOrFail(AccessGroup, groupId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const kysely = em.getKysely();
  const moved = { access_group_id: group.parent!.id };
  await em.nativeUpdate(AccessGroup, { parent: group }, { parent: group.parent });
  // Locked in id order, as everywhere: the update has no order, and an exchange may hold some rows already.
  const computers = kysely.selectFrom('computer').select('id').where('access_group_id', '=', groupId);
  await computers.orderBy('id').forNoKeyUpdate().execute();
  for (const table of ['computer', 'removed_computer', 'usg_profile', 'script'] as const) {
    await kysely.updateTable(table).set(moved).where('access_group_id', '=', groupId).execute();
  }
  em.remove(group);
}
