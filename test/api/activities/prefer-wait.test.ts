import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadDocument } from '../../../src/api/openapi/document.ts';
import { readOperations } from '../../../src/api/http/operations.ts';
import { activityGroups } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { createTestApp } from '../../support/http/app.ts';

let world: FleetWorld;
const { report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

function install(prefer: string, { token = world.tokens.admin, app = world.app } = {}) {
  const body = { action: 'install', computer_ids: [world.ids['web']], snaps: [{ name: 'hello' }] };
  return app.call('POST', '/snaps', { token, body, headers: { prefer } });
}
const latest = async () =>
  (await world.db.query<{ id: number }>('select max(id) as id from activity where parent_id is null'))[0]!.id;
const untilWaiting = (app = world.app) =>
  vi.waitFor(() => expect(app.services.activityWaits.count()).toBe(1), { timeout: 10_000 });

describe('Prefer: wait', () => {
  it('returns the activity when it has ended', async () => {
    const waiting = install('respond-async, wait=30');
    await untilWaiting();
    await world.processEvents();
    await report(await latest(), true);
    const { status, body, headers } = await waiting;
    expect([status, body.activity_status, headers.get('preference-applied')]).toEqual([200, 'succeeded', 'wait=30']);
    expect(body.id).toBe(await latest());
  });

  it('returns the activity as it is when the time is up', async () => {
    const { status, body, headers } = await install('wait=1');
    expect([status, body.activity_status, headers.get('preference-applied')]).toEqual([200, 'undelivered', 'wait=1']);
  });

  it('ignores what it does not understand', async () => {
    const { status, headers } = await install('wait=soon');
    expect([status, headers.get('preference-applied')]).toEqual([200, null]);
  });

  it('shows a token that has ended only what was created', async () => {
    const token = await world.app.login();
    const waiting = install('wait=30', { token });
    await untilWaiting();
    await world.app.call('POST', '/logout', { token });
    await world.processEvents();
    await report(await latest(), true);
    const { status, body, headers } = await waiting;
    expect([status, body.activity_status, headers.get('preference-applied')]).toEqual([200, 'undelivered', null]);
  });

  it('returns the activity when the process stops', async () => {
    const app = await createTestApp(world.persistence, { clock: world.clock });
    const waiting = install('wait=60', { app });
    await untilWaiting(app);
    await app.services.eventHub.close();
    const { status, body } = await waiting;
    expect([status, body.id]).toEqual([200, await latest()]);
    await app.close();
  });

  it('is offered by every operation that returns an activity', () => {
    const document = loadDocument();
    for (const { path, method, successStatus, takesPreference, id } of readOperations(document)) {
      const success = JSON.stringify(document.paths[path]![method]!.responses[successStatus]);
      expect([id, takesPreference]).toEqual([id, success.includes('"#/components/schemas/Activity"')]);
    }
  });
});
