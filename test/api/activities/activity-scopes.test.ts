import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;
const { act, get } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const idsOf = (body: { results: Array<{ id: number }> }) => body.results.map(({ id }) => id);

describe('scopes', () => {
  it('never shows an account the rows of another', async () => {
    await act(['web']);
    for (const path of ['/activities', '/activities/parents']) {
      expect((await get(path, world.tokens.foreign)).body).toMatchObject({ count: 0, results: [] });
    }
  });

  it('shows activities of visible computers, and parents with at least one', async () => {
    const hidden = await act(['desk']);
    const both = await act(['web', 'desk']);
    const token = world.tokens.servers;
    expect((await get(`/activities/${hidden}`, token)).status).toBe(404);
    const { body } = await get(`/activities/${both}`, token);
    expect(body.children).toHaveLength(1);
    const [web, desk] = await childrenOf(world.db, both);
    const listed = idsOf((await get('/activities', token)).body);
    expect(listed).toContain(both);
    expect(listed).toContain(web!.id);
    expect(listed).not.toContain(desk!.id);
    expect(listed).not.toContain(hidden);
    expect(idsOf((await get('/activities/parents', token)).body)).not.toContain(hidden);
    const reported = async (as?: string) => (await get(`/activities/parents?query=id:${both}`, as)).body.results[0];
    expect(await reported()).toMatchObject({
      children_count: 2,
      computer_count: 2,
      computer: null,
      children_statuses: { good: 0, warning: 2, bad: 0 },
    });
    expect(await reported(token)).toMatchObject({
      children_count: 1,
      computer_count: 1,
      computer: { id: world.ids['web'], title: 'web' },
      children_statuses: { good: 0, warning: 1, bad: 0 },
    });
  });

  it('counts as many as it lists', async () => {
    for (const path of ['/activities', '/activities/parents']) {
      const { body } = await get(path, world.tokens.servers);
      expect(body.count).toBe(body.results.length);
    }
  });

  it('offers actions only to whom may take them on every computer concerned', async () => {
    const both = await act(['web', 'desk']);
    const own = await act(['web', 'db']);
    const actions = async (id: number, who: 'auditor' | 'mixed' | 'servers' | 'admin') =>
      (await get(`/activities/${id}`, world.tokens[who])).body.actions.cancelable;
    expect(await actions(both, 'admin')).toBe(true);
    expect(await actions(both, 'auditor')).toBe(false);
    expect(await actions(both, 'mixed')).toBe(false);
    expect(await actions(both, 'servers')).toBe(false);
    expect(await actions(own, 'mixed')).toBe(true);
    expect(await actions(own, 'servers')).toBe(true);
  });
});
