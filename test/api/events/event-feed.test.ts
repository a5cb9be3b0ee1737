import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeExpiredCloudEvents, skipPositions } from '../../../src/persistence/events/cloud-events.sql.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { untilComplete } from '../../support/events/complete-feed.ts';
import { type EventStream, openEventStream } from '../../support/events/event-stream.ts';

let world: FleetWorld;
const streams: EventStream[] = [];

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(async () => {
  for (const stream of streams) stream.close();
  await world?.close();
});

interface Event {
  id: string;
  type: string;
  subject: string;
  data: Record<string, unknown>;
}

const read = async (query: string, token = world.tokens.admin) => {
  await untilComplete(world.db);
  return readNow(query, token);
};
const readNow = async (query: string, token = world.tokens.admin) => {
  const response = await world.app.call('GET', `/events?${query}`, { token });
  if (response.status >= 500) throw new Error(response.text);
  return { ...response, events: (response.body?.events ?? []) as Event[], cursor: response.body?.cursor as string };
};
const latest = async () => (await read('after=latest')).cursor;
const follow = async (query: string, token = world.tokens.admin, headers: Record<string, string> = {}) => {
  const stream = await openEventStream(`${world.app.url}/api/v2/events:stream?${query}`, token, headers);
  streams.push(stream);
  return stream;
};

async function installOn(...names: string[]): Promise<number> {
  const body = { action: 'install', computer_ids: names.map((name) => world.ids[name]), snaps: [{ name: 'hello' }] };
  const response = await world.app.call('POST', '/snaps', { token: world.tokens.admin, body });
  expect(response.status).toBe(200);
  return response.body.id;
}

describe('GET /events?after=', () => {
  it('reads the life of an activity in the order of commits, each event once', async () => {
    const start = await latest();
    const activity = await installOn('web', 'desk');
    await world.processEvents(true);
    const { events, cursor, body } = await read(`after=${start}&types=activity.created,activity.ended,operation.ended`);
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['activity.created', `activities/${activity}`],
      ['operation.ended', `computers/${world.ids['web']}`],
      ['operation.ended', `computers/${world.ids['desk']}`],
      ['activity.ended', `activities/${activity}`],
    ]);
    expect(events[0]).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^\d+-\d+$/),
      source: `/accounts/${world.accountId}`,
      type: 'activity.created',
      subject: `activities/${activity}`,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      datacontenttype: 'application/json',
      data: {
        activity_id: activity,
        activity_type: 'ActivityGroup',
        summary: 'Install snaps on computer',
        activity_status: 'undelivered',
        creator_id: world.adminId,
      },
    });
    expect(events[3]!.data).toMatchObject({ activity_status: 'canceled', canceled: 2, succeeded: 0, failed: 0 });
    expect(body.more).toBe(false);
    expect((await read(`after=${cursor}`)).events).toEqual([]);
    expect((await read(`after=${events[1]!.id}&types=operation.ended`)).events).toEqual([events[2]]);
  });

  it('goes on from page to page', async () => {
    const start = await latest();
    for (let count = 0; count < 3; count += 1) await installOn('web');
    const whole = (await read(`after=${start}`)).events;
    const pages: Event[] = [];
    let page = await read(`after=${start}&limit=2`);
    for (;;) {
      expect(page.events.length).toBeLessThanOrEqual(2);
      pages.push(...page.events);
      if (!page.body.more) break;
      page = await read(`after=${page.cursor}&limit=2`);
    }
    expect(pages).toEqual(whole);
    expect(whole.length).toBeGreaterThan(2);
  });

  it('leaves out what is not committed yet, and what was committed after it, until it is', async () => {
    const start = await latest();
    const holding = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const slow = world.db.transaction(async (tx) => {
      await tx.query('update computer set comment = comment || $1 where id = $2', ['slow', world.ids['db']]);
      held.resolve();
      await holding.promise;
    });
    await held.promise;
    await world.db.query('update computer set comment = comment || $1 where id = $2', ['fast', world.ids['web']]);
    expect((await readNow(`after=${start}&types=computer.changed`)).events).toEqual([]);
    holding.resolve();
    await slow;
    const { events } = await read(`after=${start}&types=computer.changed`);
    expect(events.map(({ subject }) => subject)).toEqual([
      `computers/${world.ids['db']}`,
      `computers/${world.ids['web']}`,
    ]);
    expect(events[0]!.data).toMatchObject({ title: 'db', changed: ['comment'] });
  });

  it('shows nobody what they may not see', async () => {
    const start = await latest();
    const both = await installOn('web', 'desk');
    const desk = await installOn('desk');
    const seen = (await read(`after=${start}`, world.tokens.servers)).events;
    expect(seen.map(({ type, subject }) => [type, subject])).toEqual([['activity.created', `activities/${both}`]]);
    const all = (await read(`after=${start}`)).events.map(({ type, subject }) => `${type} ${subject}`);
    expect(all).toContain(`activity.created activities/${desk}`);
    expect(all).toContain(`log.recorded accounts/${world.accountId}`);
    expect(
      (await read(`after=oldest`, world.tokens.foreign)).events.map(({ data }) => data['activity_id']),
    ).not.toContain(desk);
  });

  it('selects by a query for computers', async () => {
    const start = await latest();
    const web = await installOn('web');
    await installOn('desk');
    await world.db.query('update computer set comment = comment || $1 where id = any($2)', [
      'q',
      Object.values(world.ids),
    ]);
    const { events } = await read(`after=${start}&query=${encodeURIComponent('title:web')}`);
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['activity.created', `activities/${web}`],
      ['computer.changed', `computers/${world.ids['web']}`],
    ]);
    for (const query of ['title:web', `id:${world.ids['web']}`, 'NOT title:x']) {
      const foreign = (await read(`after=${start}&query=${encodeURIComponent(query)}`, world.tokens.foreign)).events;
      expect(foreign.map(({ subject }) => subject)).toEqual(
        query.startsWith('NOT') ? [`computers/${world.ids['foreign']}`] : [],
      );
    }
  });

  it('reports computers, alerts and permissions', async () => {
    const start = await latest();
    await world.db.query(`update computer set state = 'approved' where id = $1`, [world.ids['pending']]);
    await world.db.query('update computer set reboot_required = true where id = $1', [world.ids['web']]);
    await world.db.query('update computer set reboot_required = false where id = $1', [world.ids['web']]);
    await world.db.query('delete from computer where id = $1', [world.ids['pending']]);
    await world.db.query(`update role set description = 'x' where account_id = $1 and name = 'Auditor'`, [
      world.accountId,
    ]);
    const { events } = await read(
      `after=${start}&types=computer.enrolled,computer.removed,alert.raised,alert.resolved,permissions.changed`,
    );
    expect(events.map(({ type, data }) => [type, data['alert_type'] ?? data['title'] ?? null])).toEqual([
      ['computer.enrolled', 'pending'],
      ['alert.raised', 'ComputerRebootAlert'],
      ['alert.resolved', 'ComputerRebootAlert'],
      ['computer.removed', 'pending'],
      ['permissions.changed', null],
    ]);
  });

  it('rejects what is no cursor, and one whose events were deleted', async () => {
    for (const after of [
      'x',
      '1-',
      '-1-1',
      '1-2-3',
      '99999999999999999-1',
      '9007199254740991-1',
      `${'1'.repeat(65)}`,
    ]) {
      expect(await read(`after=${after}`)).toMatchObject({ status: 400, body: { error: 'InvalidParameter' } });
    }
    expect(await read('after=latest&types=nothing')).toMatchObject({
      status: 400,
      body: { error: 'InvalidParameter' },
    });
    expect(await read('after=latest&query=OR')).toMatchObject({ status: 400, body: { error: 'InvalidQueryError' } });
    for (const mixed of ['after=latest&days=3', 'types=activity.ended', 'query=x'])
      expect(await read(mixed)).toMatchObject({ status: 400, body: { error: 'InvalidParameterCombination' } });
    expect(await read('days=3', world.tokens.servers)).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    const first = (await read('after=oldest&limit=1')).events[0]!;
    await world.db.query(`update cloud_event set time = time - interval '30 days' where id <= (
      select id from cloud_event order by id offset 3 limit 1)`);
    expect(await purgeExpiredCloudEvents(world.db, 14, 100)).toBe(4);
    const expired = await read(`after=${first.id}`);
    expect(expired).toMatchObject({ status: 410, body: { error: 'EventsExpired' } });
    const oldest = expired.body.details[0].message;
    expect((await read(`after=${oldest}`)).events).toEqual((await read('after=oldest')).events);
  });

  it('goes on after a restore, from every cursor that the lost database gave', async () => {
    const start = await latest();
    await world.db.transaction(skipPositions);
    const activity = await installOn('web');
    const { events } = await read(`after=${start}&types=activity.created`);
    expect(events.map(({ subject }) => subject)).toEqual([`activities/${activity}`]);
  });
});

describe('GET /events:stream', () => {
  it('sends events as they are committed, and the missed ones after a reconnection', async () => {
    const stream = await follow('types=activity.created');
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    await stream.until(({ id }) => id !== undefined);
    const first = await installOn('web');
    const message = await stream.until(({ event }) => event === 'activity.created');
    expect(JSON.parse(message.data!)).toMatchObject({ id: message.id, subject: `activities/${first}` });
    stream.close();
    const missed = await installOn('web');
    const again = await follow('types=activity.created', world.tokens.admin, { 'Last-Event-ID': message.id! });
    const next = await again.until(({ event }) => event === 'activity.created');
    expect(JSON.parse(next.data!).subject).toBe(`activities/${missed}`);
  });

  it('ends when permissions are reduced', async () => {
    const stream = await follow('', world.tokens.mixed);
    await stream.until(({ id }) => id !== undefined);
    const [role] = await world.db.query<{ id: number }>(
      `delete from membership_role mr using role r, person p where r.id = mr.role_id and r.name = 'Auditor'
         and p.id = mr.person_id and p.email = 'mixed@fleet.example' returning r.id`,
    );
    expect(role).toBeDefined();
    await stream.ended;
  });

  it('ends when the token ends', async () => {
    const token = await world.app.login();
    const stream = await follow('', token);
    await stream.until(({ id }) => id !== undefined);
    await world.app.call('POST', '/logout', { token });
    await stream.ended;
  });

  it('shows every 15 seconds that it is alive', async () => {
    const startedAt = performance.now();
    const stream = await follow('types=profile.run');
    await stream.until(({ comment }) => comment === 'heartbeat', 20_000);
    expect(performance.now() - startedAt).toBeGreaterThan(14_000);
  }, 25_000);

  it('rejects an invalid cursor before it starts', async () => {
    const stream = await follow('after=x');
    expect(stream.response.status).toBe(400);
  });
});

it('triggers that compare rows before and after a change never compare each with each', async () => {
  const functions = await world.db.query<{ name: string; plans: boolean }>(
    `select proname as name, coalesce('enable_nestloop=off' = any(proconfig), false) as plans
     from pg_proc where prosrc ~ 'join former'`,
  );
  expect(functions.length).toBeGreaterThan(2);
  expect(functions.filter(({ plans }) => !plans)).toEqual([]);
});
