import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityGroups } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { type EventStream, openEventStream } from '../../support/events/event-stream.ts';

let world: FleetWorld;
const streams: EventStream[] = [];
const { act, get, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(async () => {
  for (const stream of streams) stream.close();
  await world?.close();
});

async function follow(activity: number, token = world.tokens.admin): Promise<EventStream> {
  const stream = await openEventStream(`${world.app.url}/api/v2/activities/${activity}:stream`, token);
  streams.push(stream);
  return stream;
}
const progressOf = ({ messages }: EventStream) =>
  messages.flatMap(({ event, data }) => (event === 'progress' ? [JSON.parse(data!)] : []));
const first = (stream: EventStream) => stream.until(({ event }) => event === 'progress');

describe('GET /activities/{id}:stream', () => {
  it('sends what the list of parents shows, until the activity has ended', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const stream = await follow(group);
    await first(stream);
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const shown = async () => (await get(`/activities/parents?query=id:${group}`)).body.results[0];
    expect(progressOf(stream)).toEqual([await shown()]);
    await report(group, true, null);
    await stream.until(({ data }) => data?.includes('"good":1') === true);
    await report(group, null, false);
    await stream.ended;
    expect(progressOf(stream).at(-1)).toEqual(await shown());
    expect(progressOf(stream).at(-1)).toMatchObject({
      activity_status: 'failed',
      children_statuses: { good: 1, bad: 1 },
    });
  });

  it('sends at most four updates a second', async () => {
    const group = await act(['web', 'db']);
    const stream = await follow(group);
    await first(stream);
    const startedAt = performance.now();
    for (let count = 0; count < 100; count += 1) {
      await world.db.query(
        `update activity set succeeded_count = $2::int % 2, status = case when $2::int % 2 = 0 then 'undelivered' else 'delivered' end where id = $1`,
        [group, count],
      );
      await delay(10);
    }
    await delay(300);
    // At most four a second, and the first one.
    expect(progressOf(stream).length).toBeLessThanOrEqual(((performance.now() - startedAt) / 1000) * 4 + 2);
    expect(progressOf(stream).length).toBeGreaterThan(1);
    stream.close();
  });

  it('sends the only state of one that has ended', async () => {
    const group = await act(['web']);
    await world.processEvents(true);
    const stream = await follow(group);
    await stream.ended;
    expect(progressOf(stream).map((activity) => activity.activity_status)).toEqual(['canceled']);
  });

  it('follows an operation of a group', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const child = (await get(`/activities/${group}`)).body.children[0].id;
    const stream = await follow(child);
    await first(stream);
    await report(group, true, null);
    await stream.ended;
    expect(progressOf(stream).at(-1)).toMatchObject({ id: child, parent_id: group, activity_status: 'succeeded' });
  });

  it('counts only what the caller sees, and does not exist for whoever sees nothing', async () => {
    const group = await act(['web', 'desk']);
    const stream = await follow(group, world.tokens.servers);
    await first(stream);
    expect(progressOf(stream)[0]).toMatchObject({ children_count: 1, computer: { title: 'web' } });
    stream.close();
    for (const token of [world.tokens.servers, world.tokens.foreign]) {
      expect((await follow(await act(['desk']), token)).response.status).toBe(404);
    }
  });

  it('ends when the token ends', async () => {
    const token = await world.app.login();
    const stream = await follow(await act(['web']), token);
    await first(stream);
    await world.app.call('POST', '/logout', { token });
    await stream.ended;
  });
});
