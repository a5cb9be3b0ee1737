import { setTimeout as delay } from 'node:timers/promises';
import type { ActivityScope } from '../../persistence/query/activity-visibility.ts';
import type { Caller } from '../common/ports.ts';
import type { Authenticator } from '../identity/login/authenticator.ts';

/** After this time without an event a stream shows that it is alive. */
export const HEARTBEAT_MS = 15_000;
/** Rights that change end a stream within this time and that of a read. */
const RIGHTS_CHECK_MS = 1_000;

/** Aborts `ended` when the rights of the caller differ from those at the start, or the token has ended. */
export async function watchRights(authenticator: Authenticator, caller: Caller, ended: AbortController): Promise<void> {
  const known = rightsOf(caller);
  while (await pause(RIGHTS_CHECK_MS, ended.signal)) {
    const current = await authenticator.reauthenticate(caller).catch(() => null);
    if (current === null || rightsOf(current) !== known) ended.abort();
  }
}

function rightsOf(caller: Pick<Caller, 'groups' | 'may'>): string {
  return JSON.stringify([viewOf(caller), caller.may('ViewEventLog')]);
}

/** @returns whether the time has passed */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false);
}

/** What the caller sees. */
export function viewOf(caller: Pick<Caller, 'groups'>): Omit<ActivityScope, 'accountId'> {
  return {
    view: caller.groups('ViewComputer'),
    manage: [],
    execute: [],
    usgProfiles: caller.groups('ViewUsgProfile'),
    scriptProfiles: caller.groups('ViewScriptProfile'),
  };
}
