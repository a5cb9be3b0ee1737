import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEvent, childrenOf } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterEach(async () => {
  await world.db.query('delete from activity');
  await world.db.query('delete from agent_message');
});
afterAll(() => world?.close());

type Verb = 'cancel' | 'approve';
const post = (verb: Verb, body: unknown, token = world.tokens.admin) =>
  world.app.call('POST', `/activities/${verb}`, { token, body });
async function act(...computers: string[]): Promise<number> {
  const body = { action: 'install', computer_ids: computers.map((title) => world.ids[title]), snaps: [{ name: 'a' }] };
  const response = await world.app.call('POST', '/snaps', { token: world.tokens.admin, body });
  expect(response.status).toBe(200);
  return response.body.id;
}
const statuses = async (group: number) => (await childrenOf(world.db, group)).map(({ status }) => status);
const events = async () =>
  (await world.app.call('GET', '/events?limit=1', { token: world.tokens.admin })).body.count as number;

describe('POST /activities/cancel with a query', () => {
  it('cancels groups and operations that it finds, newest first, and leaves the others', async () => {
    const [first, second] = [await act('web', 'db'), await act('web')];
    await world.processEvents();
    const before = await events();
    const response = await post('cancel', { query: `type:ActivityGroup id:${first} OR id:${second}` });
    expect([response.status, response.body]).toEqual([200, [second, first]]);
    expect(await events()).toBe(before + 2);
    const third = await act('web', 'db');
    await world.processEvents();
    expect(await statuses(first)).toEqual(['canceled', 'canceled']);
    const [onWeb] = await childrenOf(world.db, third);
    const one = await post('cancel', { query: `computer:web parent-id:${third}` });
    expect([one.status, one.body]).toEqual([200, [onWeb!.id]]);
    await world.processEvents();
    expect(await statuses(third)).toEqual(['canceled', 'undelivered']);
  });

  it('counts operations with their groups once', async () => {
    const group = await act('web', 'db');
    await world.processEvents();
    const children = await childrenOf(world.db, group);
    const before = await events();
    const { body } = await post('cancel', { query: 'status:undelivered' });
    expect(body).toEqual([...children.map(({ id }) => id).toReversed(), group]);
    expect(await events()).toBe(before + 1);
    await world.processEvents();
    expect(await statuses(group)).toEqual(['canceled', 'canceled']);
  });

  it('STATE-bad: changes nothing when one of them has ended', async () => {
    const group = await act('web', 'db');
    await world.processEvents();
    const [first] = await childrenOf(world.db, group);
    await addEvent(world.db, {
      batch: first!.lane_id,
      activity: first!.id,
      kind: 'result',
      ok: true,
      at: world.clock.now(),
    });
    await world.processEvents();
    const before = await events();
    const { status, body } = await post('cancel', { query: `parent-id:${group}` });
    expect([status, body.error, body.details]).toEqual([
      400,
      'ActivityNotEligible',
      [{ id: first!.id, message: 'has already ended' }],
    ]);
    expect(await statuses(group)).toEqual(['succeeded', 'undelivered']);
    expect(await events()).toBe(before);
    expect((await post('cancel', { query: `parent-id:${group} status:undelivered` })).status).toBe(200);
  });

  it('returns nothing for a query that finds nothing, and nothing of what is out of sight', async () => {
    const group = await act('desk');
    expect((await post('cancel', { query: 'nothing' })).body).toEqual([]);
    expect((await post('cancel', { query: `id:${group}` }, world.tokens.foreign)).body).toEqual([]);
    expect((await post('cancel', { query: `id:${group}` }, world.tokens.servers)).body).toEqual([]);
    expect((await post('cancel', { query: `id:${group}` }, world.tokens.mixed)).body.error).toBe('Forbidden');
    await world.processEvents();
    expect(await statuses(group)).toEqual(['undelivered']);
  });

  it.each(['cancel', 'approve'] as const)('%s rejects both, neither, or a bad query', async (verb) => {
    const group = await act('web');
    for (const body of [{}, { activity_ids: [group], query: 'a' }]) {
      expect((await post(verb, body)).body, JSON.stringify(body)).toMatchObject({
        error: 'InvalidParameterCombination',
        code: 400,
      });
    }
    for (const body of [
      { query: '' },
      { query: ' \t' },
      { query: 7 },
      { query: null },
      { activity_ids: [] },
      { activity_id: [group] },
      [],
    ]) {
      expect((await post(verb, body)).body, JSON.stringify(body)).toMatchObject({
        error: 'InvalidParameter',
        code: 400,
      });
    }
    const bad = await post(verb, { query: 'snaps status:done' });
    expect(bad.body).toMatchObject({ error: 'InvalidQueryError', details: [{ path: 'body.query' }] });
    expect(bad.body.message).toContain('character 7');
    expect(await statuses(group)).toEqual(['undelivered']);
  });
});

describe('POST /activities/approve with a query', () => {
  it('approves what waits for it, all or nothing', async () => {
    const group = await act('web', 'db');
    await world.processEvents();
    await world.db.query(
      `update activity set status = 'unapproved', needed_approval = true where $1 in (id, parent_id)`,
      [group],
    );
    const other = await act('web');
    const rejected = await post('approve', { query: 'snaps' });
    expect([rejected.status, rejected.body.error]).toEqual([400, 'ActivityNotEligible']);
    expect(rejected.body.details.map(({ id }: { id: number }) => id)).toContain(other);
    expect(await statuses(group)).toEqual(['unapproved', 'unapproved']);
    const { status, body } = await post('approve', { query: 'status:unapproved' });
    expect([status, body.length, body.at(-1)]).toEqual([200, 3, group]);
    expect(await statuses(group)).toEqual(['undelivered', 'undelivered']);
  });
});

describe('GET /activity-types', () => {
  it('lists names in alphabetical order, among them those of all activities', async () => {
    const { status, body } = await world.app.call('GET', '/activity-types', { token: world.tokens.auditor });
    expect(status).toBe(200);
    expect(body).toEqual([...body].sort());
    expect(body).toEqual(expect.arrayContaining(['ActivityGroup', 'UsgActivity', 'ChangePackagesRequest']));
    await act('web');
    const made = await world.db.query<{ type: string }>('select distinct type from activity');
    for (const { type } of made) expect(body).toContain(type);
  });
});
