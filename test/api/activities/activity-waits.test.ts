import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { activityGroups } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { createTestApp } from '../../support/http/app.ts';

let world: FleetWorld;
const { act, report } = activityGroups(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const get = (path: string, tag?: string, token = world.tokens.admin) =>
  world.app.call('GET', path, { token, headers: tag ? { 'if-none-match': tag } : {} });
const tagOf = async (activity: number) => (await get(`/activities/${activity}`)).headers.get('etag')!;
const waiters = () => world.app.services.activityWaits.count();
const untilWaiting = (count: number) => vi.waitFor(() => expect(waiters()).toBe(count), { timeout: 10_000 });

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await work, performance.now() - startedAt];
}

/** Long before a wait of 30 seconds is up, also on a busy machine. */
const EARLY_MS = 15_000;

describe('GET /activities/{id}?wait=', () => {
  it('waits for the end', async () => {
    const group = await act(['web']);
    await world.processEvents();
    const waiting = get(`/activities/${group}?wait=30&until=ended`);
    await untilWaiting(1);
    await report(group, true);
    const [{ status, body }, ms] = await timed(waiting);
    expect([status, body.activity_status]).toEqual([200, 'succeeded']);
    expect(ms).toBeLessThan(EARLY_MS);
    expect(waiters()).toBe(0);
  });

  it('waits for a change from what the client has, or from what there was', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const tag = await tagOf(group);
    const waiting = [get(`/activities/${group}?wait=30`, tag), get(`/activities/${group}?wait=30&until=changed`)];
    await untilWaiting(2);
    await report(group, true, null);
    for (const { status, headers } of await Promise.all(waiting)) {
      expect(status).toBe(200);
      expect(headers.get('etag')).not.toBe(tag);
    }
  });

  it('responds at once when there is nothing to wait for', async () => {
    const group = await act(['web']);
    await world.processEvents(true);
    const tag = await tagOf(group);
    const cases: Array<[string, string | undefined, number]> = [
      ['wait=30&until=ended', undefined, 200],
      ['wait=30&until=ended', tag, 304],
      ['wait=30', '"other"', 200],
      ['wait=0', tag, 304],
    ];
    for (const [query, header, expected] of cases) {
      const [{ status }, ms] = await timed(get(`/activities/${group}?${query}`, header));
      expect([query, status]).toEqual([query, expected]);
      expect(ms).toBeLessThan(EARLY_MS);
    }
    expect((await get('/activities/2147483647?wait=30')).status).toBe(404);
  });

  it('responds when the time is up', async () => {
    const group = await act(['web']);
    const tag = await tagOf(group);
    const cases: Array<[string, string | undefined, number]> = [
      ['wait=1', tag, 304],
      ['wait=1', undefined, 200],
      ['wait=1&until=ended', tag, 304],
      ['wait=1&until=ended', undefined, 200],
    ];
    const all = cases.map(([query, header]) => timed(get(`/activities/${group}?${query}`, header)));
    for (const [index, [{ status }, ms]] of (await Promise.all(all)).entries()) {
      expect([cases[index]![0], status]).toEqual([cases[index]![0], cases[index]![2]]);
      expect(ms).toBeGreaterThan(950);
    }
  });

  it('rejects until without wait and a wait of more than a minute', async () => {
    const group = await act(['web']);
    const combination = await get(`/activities/${group}?until=ended`);
    expect([combination.status, combination.body.error]).toEqual([400, 'InvalidParameterCombination']);
    expect((await get(`/activities/${group}?wait=61`)).body.error).toBe('InvalidParameter');
  });

  it('sees the change of a child, whose events have the id of its group', async () => {
    const group = await act(['web', 'db']);
    await world.processEvents();
    const child = (await get(`/activities/${group}`)).body.children[0].id;
    const waiting = get(`/activities/${child}?wait=30&until=ended`);
    await untilWaiting(1);
    await delay(300);
    await report(group, true, null);
    const [{ body }, ms] = await timed(waiting);
    expect(body.activity_status).toBe('succeeded');
    expect(ms).toBeLessThan(EARLY_MS);
  });

  it('sees a change without an event soon', async () => {
    const group = await act(['web']);
    const waiting = get(`/activities/${group}?wait=30`, await tagOf(group));
    await untilWaiting(1);
    await world.db.query('update activity set progress = 50 where id = $1', [group]);
    const [{ body }, ms] = await timed(waiting);
    expect(body.progress).toBe(50);
    expect(ms).toBeLessThan(EARLY_MS);
  });

  it('loses no wake-up between the read and the wait', async () => {
    for (let round = 0; round < 20; round += 1) {
      const group = await act(['web']);
      await world.processEvents();
      const waiting = timed(get(`/activities/${group}?wait=30&until=ended`));
      await delay(round);
      await report(group, true);
      const [{ body }, ms] = await waiting;
      expect(body.activity_status).toBe('succeeded');
      expect(ms).toBeLessThan(EARLY_MS);
    }
  });

  it('shows nothing to a token that has ended meanwhile', async () => {
    const token = await world.app.login();
    const group = await act(['web']);
    await world.processEvents();
    const waiting = get(`/activities/${group}?wait=30&until=ended`, undefined, token);
    await untilWaiting(1);
    await world.app.call('POST', '/logout', { token });
    await report(group, true);
    expect((await waiting).body).toMatchObject({ error: 'Unauthorized', code: 401 });
  });

  it('ends when the client disconnects', async () => {
    const group = await act(['web']);
    const stopping = new AbortController();
    const waiting = fetch(`${world.app.url}/api/v2/activities/${group}?wait=30`, {
      headers: { authorization: `Bearer ${world.tokens.admin}` },
      signal: stopping.signal,
    });
    await untilWaiting(1);
    stopping.abort();
    await expect(waiting).rejects.toThrow();
    await untilWaiting(0);
  });

  it('wakes a thousand waiters on one activity with few statements', async () => {
    const group = await act(['web']);
    await world.processEvents();
    const waiting = Array.from({ length: 1_000 }, () => get(`/activities/${group}?wait=60&until=ended`));
    await untilWaiting(1_000);
    await delay(500);
    const query = vi.spyOn(world.db, 'query');
    await report(group, true);
    const responses = await Promise.all(waiting);
    const names = query.mock.calls.map(([, , name]) => name);
    query.mockRestore();
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.activity_status}`))).toEqual(
      new Set(['200 succeeded']),
    );
    expect(names.filter((name) => name === 'activity-states').length).toBeLessThan(10);
    expect(names.filter((name) => name === 'activity-tagged').length).toBeLessThan(200);
  });

  it('responds with 503 to everyone when the process stops', async () => {
    const app = await createTestApp(world.persistence, { clock: world.clock });
    const group = await act(['web']);
    const waiting = [1, 2, 3].map(() => app.call('GET', `/activities/${group}?wait=60`, { token: world.tokens.admin }));
    await vi.waitFor(() => expect(app.services.activityWaits.count()).toBe(3), { timeout: 10_000 });
    await app.services.eventHub.close();
    for (const { status, headers, body } of await Promise.all(waiting)) {
      expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'ServiceUnavailable', '1']);
    }
    await app.close();
  });

  it('has the same tags on every process', async () => {
    const app = await createTestApp(world.persistence, { clock: world.clock });
    const group = await act(['web', 'desk']);
    const there = await app.call('GET', `/activities/${group}`, { token: world.tokens.admin });
    expect(there.headers.get('etag')).toBe(await tagOf(group));
    await app.close();
  });
});
