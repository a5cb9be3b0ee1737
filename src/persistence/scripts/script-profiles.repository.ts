import { LockMode } from '@mikro-orm/core';
import type { Trigger } from '../../domain/scripts/trigger.ts';
import type { Sql } from '../database/sql.ts';
import { ScriptProfile } from './script-profile.entity.ts';
import { readScriptProfile, readScriptProfiles, type ScriptProfileRow } from './script-profiles.sql.ts';

/** Several profiles of any account, archived or not, with their rows locked until the transaction ends. */
export async function lockScriptProfiles(tx: Sql, ids: readonly number[]): Promise<ScriptProfileRow[]> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const locked = await tx.em.find(ScriptProfile, { id: { $in: [...ids] } }, { ...options, orderBy: { id: 'asc' } });
  return readScriptProfiles(
    tx,
    locked.map(({ id }) => id),
  );
}

/** As {@link readScriptProfile}, with its row locked until the transaction ends. */
export async function lockScriptProfile(tx: Sql, id: number): Promise<ScriptProfileRow | null> {
  const locked = await tx.em.findOne(ScriptProfile, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  return locked && readScriptProfile(tx, id);
}

export function countActiveScriptProfiles(sql: Sql, account: number): Promise<number> {
  return sql.em.count(ScriptProfile, { account, archived: false });
}

export type NewScriptProfile = Pick<
  ScriptProfile,
  'creatorId' | 'title' | 'allComputers' | 'tags' | 'timeLimit' | 'username' | 'timezone'
> & { account: number; script: number; trigger: Trigger };

/** @returns id of the new profile. @throws a violation of `script_profile_title` when an active one has the title */
export async function insertScriptProfile({ em }: Sql, { trigger, ...profile }: NewScriptProfile, now: Date) {
  const created = em.create(ScriptProfile, {
    ...profile,
    ...columnsOf(trigger),
    createdAt: now,
    lastEditedAt: now,
    dueAt: null,
    plannedUntil: null,
  });
  await em.flush();
  return created.id;
}

export type ScriptProfileChange = {
  [column in
    | Exclude<keyof NewScriptProfile, 'account' | 'script' | 'creatorId' | 'trigger'>
    | 'triggerNumber'
    | 'archived'
    | 'lastEditedAt'
    | 'dueAt'
    | 'plannedUntil']?: ScriptProfile[column] | undefined;
} & { trigger?: Trigger | undefined };

/** Changes a locked profile. @throws a violation of `script_profile_title` when another active one has the title */
export async function updateScriptProfile({ em }: Sql, id: number, change: ScriptProfileChange): Promise<void> {
  const { trigger, ...columns } = change;
  const profile = await em.findOneOrFail(ScriptProfile, id);
  em.assign(profile, { ...columns, ...(trigger && columnsOf(trigger)) }, { ignoreUndefined: true });
  await em.flush();
}

function columnsOf(trigger: Trigger) {
  return {
    triggerType: trigger.type,
    eventType: trigger.type === 'event' ? trigger.eventType : null,
    runAt: trigger.type === 'one_time' ? trigger.timestamp : null,
    startAfter: trigger.type === 'recurring' ? trigger.startAfter : null,
    cron: trigger.type === 'recurring' ? trigger.interval : null,
  };
}
