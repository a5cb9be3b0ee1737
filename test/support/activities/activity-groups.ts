import { expect } from 'vitest';
import type { FleetWorld } from '../agents/fleet-world.ts';
import { addEvent, childrenOf } from './activity-rows.ts';

/** Makes, reads, ends and cancels groups on a world that is made before the first test. */
export function activityGroups(worldOf: () => FleetWorld) {
  const admin = () => worldOf().tokens.admin;

  /** Installs a snap on computers by their titles. */
  async function act(computers: string[], over: object = {}): Promise<number> {
    const { app, ids } = worldOf();
    const body = { action: 'install', computer_ids: computers.map((title) => ids[title]), snaps: [{ name: 'hello' }] };
    const response = await app.call('POST', '/snaps', { token: admin(), body: { ...body, ...over } });
    expect(response.status).toBe(200);
    return response.body.id;
  }

  const get = (path: string, token = admin()) => worldOf().app.call('GET', path, { token });

  const cancel = (ids: unknown, token = admin()) =>
    worldOf().app.call('POST', '/activities/cancel', { token, body: { activity_ids: ids } });

  /** The computers' results, in order; null for none. */
  async function report(group: number, ...outcomes: Array<boolean | null>): Promise<void> {
    const { db, clock, processEvents: settle } = worldOf();
    const children = await childrenOf(db, group);
    for (const [index, ok] of outcomes.entries()) {
      if (ok === null) continue;
      const { lane_id, id } = children[index]!;
      const text = ok ? 'done' : 'no such snap';
      await addEvent(db, { batch: lane_id, activity: id, kind: 'result', ok, body: text, at: clock.now() });
    }
    await settle();
  }

  return { act, get, cancel, report };
}
