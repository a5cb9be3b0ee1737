import type { FleetWorld } from '../agents/fleet-world.ts';
import { script, scriptProfile } from './scripts.ts';

export const once = (timestamp: string) => ({ trigger_type: 'one_time', timestamp });
export const recurring = (interval: string, start_after = '2026-11-20T00:00:00Z') => ({
  trigger_type: 'recurring',
  start_after,
  interval,
});
export const event = { trigger_type: 'event', event_type: 'post_enrollment' };

/** What tests do with script profiles over the API, on a world that is made before the first test. */
export function scriptProfileRequests(worldOf: () => FleetWorld) {
  let turn = 0;
  const scriptIds = { global: 0, servers: 0 };

  const call = (method: string, path: string, body?: unknown, token = worldOf().tokens.admin) =>
    worldOf().app.call(method, path, { token, ...(body === undefined ? {} : { body }) });

  /** Makes the two scripts that profiles run: one of all computers, one of the servers. */
  async function addScripts(): Promise<void> {
    scriptIds.global = (await call('POST', '/scripts', script())).body.id;
    scriptIds.servers = (
      await call('POST', '/scripts', script({ title: 'On servers', access_group: 'servers' }))
    ).body.id;
  }

  /** From now on profiles have another title. */
  const nextTurn = (): void => void turn++;

  const create = (over: object = {}, token?: string) =>
    call('POST', '/script-profiles', scriptProfile(scriptIds.global, { title: `Profile ${turn}`, ...over }), token);

  /** What a rejection must leave as it was. */
  const stored = async () => {
    const [row] = await worldOf().db.query(
      `select (select md5(string_agg(p::text, '')) from script_profile p) as profiles,
         (select count(*) from event where entity_type = 'ScriptProfile') as events`,
    );
    return row;
  };

  return { scriptIds, call, addScripts, nextTurn, create, stored, turn: () => turn };
}
