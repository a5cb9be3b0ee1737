import { expect } from 'vitest';
import type { FleetWorld } from '../agents/fleet-world.ts';
import type { ApiResponse } from '../http/app.ts';
import { addEvent, childrenOf } from './activity-rows.ts';

type Verb = 'reapply' | 'revert' | 'approve' | 'cancel';

/** What tests do with activities over the API, on a world that is made before the first test. */
export function activityVerbs(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  async function settle(group: number): Promise<void> {
    const { db, engine } = worldOf();
    const lanes = await db.query<{ id: number }>('select id from lane where parent_id = $1 order by id', [group]);
    for (const { id } of lanes) await engine.processPendingEvents(id, false);
  }

  const verb = (name: Verb, ids: unknown, token = admin()) =>
    worldOf().app.call('POST', `/activities/${name}`, { token, body: { activity_ids: ids } });

  const detail = async (id: number, token = admin()) =>
    (await worldOf().app.call('GET', `/activities/${id}`, { token })).body;

  /** Installs a snap on computers by their titles. */
  async function act(computers: string[], over: object = {}): Promise<number> {
    const { app, ids } = worldOf();
    const computer_ids = computers.map((title) => ids[title]);
    const body = { action: 'install', computer_ids, snaps: [{ name: 'hello' }], ...over };
    const response = await app.call('POST', '/snaps', { token: admin(), body });
    expect(response.status).toBe(200);
    await settle(response.body.id);
    return response.body.id;
  }

  /** The computers' results, in order, the last of them for the rest; null for none. */
  async function end(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
    const { db, clock } = worldOf();
    for (const [index, { lane_id, id }] of (await childrenOf(db, group)).entries()) {
      const ok = outcomes[index] ?? outcomes.at(-1)!;
      if (ok === null) continue;
      await addEvent(db, { batch: lane_id, activity: id, kind: 'result', ok, at: clock.now() });
    }
    await settle(group);
  }

  const messagesOf = (group: number) =>
    worldOf().db.query(
      `select a.computer_id, a.type, p.message_type, p.fields
       from activity a join operation_payload p on p.id = a.payload_id where a.parent_id = $1 order by a.id`,
      [group],
    );

  const count = async () => (await worldOf().db.query('select count(*)::int as count from activity'))[0]!['count'];

  /** Makes a call after which there are as many activities as before. */
  async function unchanged(call: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const before = await count();
    const response = await call();
    expect(await count()).toBe(before);
    return response;
  }

  return { settle, verb, detail, act, end, messagesOf, count, unchanged };
}
