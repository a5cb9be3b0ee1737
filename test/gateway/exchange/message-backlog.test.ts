import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createServedFleet,
  drain,
  ping,
  type RawAgent,
  result,
  type ServedFleet,
  work,
} from '../../support/agents/raw-agent.ts';

let fleet: ServedFleet;
let agent: RawAgent;

beforeAll(async () => {
  fleet = await createServedFleet();
});
afterAll(() => fleet?.close());
beforeEach(async () => {
  await bound(null);
  [agent] = (await fleet.enrol(1)) as [RawAgent];
});

async function bound(limit: number | null): Promise<void> {
  const { token } = fleet;
  const response =
    limit === null
      ? await fleet.app.call('DELETE', '/message-backlog-settings', { token })
      : await fleet.app.call('PUT', '/message-backlog-settings', { token, body: { max_message_backlog: limit } });
  expect(response.status).toBe(limit === null ? 204 : 200);
}

/** Creates operations for the agent's computer and opens their batches. */
async function install(count: number): Promise<number[]> {
  const groups = [];
  for (let i = 0; i < count; i++) groups.push(await fleet.install([agent]));
  await fleet.processEvents();
  return groups;
}

/** Creates a scheduled operation without opening its batch. @returns the group */
async function schedule(inMs: number): Promise<number> {
  const response = await fleet.app.call('POST', '/snaps', {
    token: fleet.token,
    body: {
      action: 'install',
      computer_ids: [agent.id],
      snaps: [{ name: 'hello' }],
      deliver_after: new Date(Date.now() + inMs).toISOString(),
    },
  });
  expect(response.status).toBe(200);
  return response.body.id;
}

/** As if the hour had passed. */
async function becomeDue(operations: readonly number[]): Promise<void> {
  const past = (column: string) => `${column} - interval '2 hours'`;
  const values = [operations];
  await fleet.db.query(
    `update activity set deliver_at = ${past('deliver_at')}
     where id = any($1::int[]) or id in (select parent_id from activity where id = any($1::int[]))`,
    values,
  );
  await fleet.db.query(
    `update agent_message set deliver_at = ${past('deliver_at')} where activity_id = any($1::int[])`,
    values,
  );
}

/** API statuses of the only child of each group. */
async function statuses(groups: readonly number[]): Promise<string[]> {
  const { token } = fleet;
  const responses = await Promise.all(groups.map((id) => fleet.app.call('GET', `/activities/${id}`, { token })));
  return responses.map(({ body }) => body.children[0].activity_status);
}

function childrenOf(groups: readonly number[]): Promise<number[]> {
  return fleet.db
    .query<{ id: number }>('select id from activity where parent_id = any($1::int[]) order by id', [groups])
    .then((rows) => rows.map(({ id }) => id));
}

describe('the message backlog limit', () => {
  it('lets new operations wait at the limit and move up, oldest first, as the queue drains', async () => {
    await bound(2);
    const groups = await install(5);
    expect(await statuses(groups)).toEqual(['undelivered', 'undelivered', 'waiting', 'waiting', 'waiting']);
    const ids = await childrenOf(groups);
    expect(await work(agent)).toEqual(ids.slice(0, 2));
    await fleet.processEvents();
    expect(await statuses(groups)).toEqual(['delivered', 'delivered', 'waiting', 'waiting', 'waiting']);
    // An acknowledgement makes room in the same exchange.
    expect(await work(agent)).toEqual(ids.slice(2, 4));
    await fleet.processEvents();
    expect(await statuses(groups)).toEqual(['delivered', 'delivered', 'delivered', 'delivered', 'waiting']);
    expect(await drain(fleet, agent)).toEqual(ids.slice(4));
    await agent.exchange(ids.map((id) => result(id)));
    await fleet.processEvents();
    expect(await statuses(groups)).toEqual(Array(5).fill('succeeded'));
  });

  it('holds everything at 0, and all goes when the limit is removed', async () => {
    await bound(0);
    const groups = await install(3);
    for (let i = 0; i < 2; i++) expect(await work(agent)).toEqual([]);
    expect(await ping(fleet, agent.id)).toEqual({ messages: false });
    expect(await statuses(groups)).toEqual(['waiting', 'waiting', 'waiting']);
    await bound(null);
    expect(await statuses(groups)).toEqual(['undelivered', 'undelivered', 'undelivered']);
    expect(await ping(fleet, agent.id)).toEqual({ messages: true });
    expect(await drain(fleet, agent)).toEqual(await childrenOf(groups));
  });

  it('lets the oldest go at once when it is raised', async () => {
    await bound(1);
    const groups = await install(5);
    await bound(3);
    expect(await statuses(groups)).toEqual(['undelivered', 'undelivered', 'undelivered', 'waiting', 'waiting']);
  });

  it('leaves the backlog to due operations: scheduled ones do not count before their time', async () => {
    await bound(1);
    const scheduled = [await schedule(3_600_000), await schedule(3_600_000)];
    const [now] = await install(1);
    expect(await statuses([...scheduled, now!])).toEqual(['scheduled', 'scheduled', 'undelivered']);
    expect(await ping(fleet, agent.id)).toEqual({ messages: true });
    const ids = await childrenOf([now!]);
    expect(await work(agent)).toEqual(ids);
    await work(agent, ids);
    expect(await ping(fleet, agent.id)).toEqual({ messages: false });
    expect(await statuses(scheduled)).toEqual(['scheduled', 'scheduled']);
  });

  it('holds what becomes due at the same time, and hands the oldest out at once', async () => {
    await bound(1);
    const scheduled = [await schedule(3_600_000), await schedule(3_600_000)];
    await fleet.processEvents();
    const ids = await childrenOf(scheduled);
    await becomeDue(ids);
    expect(await statuses(scheduled)).toEqual(['undelivered', 'waiting']);
    expect(await ping(fleet, agent.id)).toEqual({ messages: true });
    expect(await work(agent)).toEqual(ids.slice(0, 1));
    expect(await ping(fleet, agent.id)).toEqual({ messages: false });
    expect(await drain(fleet, agent, ids.slice(0, 1))).toEqual(ids.slice(1));
  });

  it('queues what is scheduled when it is removed', async () => {
    await bound(1);
    const scheduled = await schedule(3_600_000);
    await fleet.processEvents();
    await bound(null);
    const ids = await childrenOf([scheduled]);
    expect(await ping(fleet, agent.id)).toEqual({ messages: false });
    expect(await fleet.db.query('select state from agent_message where activity_id = any($1::int[])', [ids])).toEqual([
      { state: 'queued' },
    ]);
  });

  it('holds for what no computer has been given when it is lowered; what was handed over counts', async () => {
    const groups = await install(3);
    const ids = await childrenOf(groups);
    await bound(1);
    expect(await statuses(groups)).toEqual(['undelivered', 'waiting', 'waiting']);
    await bound(null);
    expect(await work(agent)).toEqual(ids);
    await bound(1);
    const [late] = await install(1);
    expect(await statuses([...groups, late!])).toEqual(['delivered', 'delivered', 'delivered', 'waiting']);
    expect(await drain(fleet, agent, ids)).toEqual(await childrenOf([late!]));
  });

  it('shows what exceeds it as waiting from the first response on', async () => {
    await bound(1);
    const [first, second] = [await fleet.install([agent]), await fleet.install([agent])];
    expect(await statuses([first, second])).toEqual(['undelivered', 'waiting']);
    const response = await fleet.app.call('POST', '/snaps', {
      token: fleet.token,
      body: { action: 'install', computer_ids: [agent.id], snaps: [{ name: 'hello' }] },
    });
    expect(response).toMatchObject({ status: 200, body: { activity_status: 'waiting' } });
    for (const query of [`id:${response.body.id} status:waiting`, `parent-id:${response.body.id} status:waiting`]) {
      const found = await fleet.app.call('GET', `/activities?query=${encodeURIComponent(query)}`, {
        token: fleet.token,
      });
      expect(found.body.count).toBe(1);
    }
  });

  it('makes room for an earlier operation that becomes due', async () => {
    await bound(1);
    const scheduled = await schedule(3_600_000);
    const [later] = await install(1);
    expect(await statuses([scheduled, later!])).toEqual(['scheduled', 'undelivered']);
    const ids = await childrenOf([scheduled, later!]);
    await becomeDue(ids.slice(0, 1));
    expect(await statuses([scheduled, later!])).toEqual(['undelivered', 'waiting']);
    expect(await work(agent)).toEqual(ids.slice(0, 1));
    expect(await drain(fleet, agent, ids.slice(0, 1))).toEqual(ids.slice(1));
  });

  it('lets the next one up when a queued operation is canceled', async () => {
    await bound(1);
    const groups = await install(3);
    const body = { activity_ids: [groups[0]] };
    expect((await fleet.app.call('POST', '/activities/cancel', { token: fleet.token, body })).status).toBe(200);
    await fleet.processEvents();
    expect(await statuses(groups)).toEqual(['canceled', 'undelivered', 'waiting']);
  });

  it('counts for each computer alone', async () => {
    const [other] = (await fleet.enrol(1)) as [RawAgent];
    await bound(1);
    await install(2);
    const group = await fleet.install([other]);
    await fleet.processEvents();
    expect(await statuses([group])).toEqual(['undelivered']);
  });

  it('is the same after a restart, and so is everything that waits', async () => {
    await bound(1);
    const groups = await install(3);
    const ids = await childrenOf(groups);
    expect(await work(agent)).toEqual(ids.slice(0, 1));
    await fleet.restart();
    agent = Object.assign(agent, { world: fleet });
    expect(await fleet.app.call('GET', '/message-backlog-settings', { token: fleet.token })).toMatchObject({
      status: 200,
      body: { max_message_backlog: 1 },
    });
    expect((await statuses(groups)).slice(1)).toEqual(['waiting', 'waiting']);
    expect(await drain(fleet, agent)).toEqual(ids.slice(1));
  });

  it('AGENT-flood: never lets more than the limit wait, loses and repeats nothing', async () => {
    await bound(10);
    const groups = await install(100);
    const waiting = () =>
      fleet.db.query<{ count: number }>(
        `select count(*)::int as count from agent_message where computer_id = $1 and state = 'sent'`,
        [agent.id],
      );
    const came: number[] = [];
    let last: number[] = [];
    while (came.length < 100) {
      expect((await waiting())[0]!.count).toBeLessThanOrEqual(10);
      last = await work(agent, last);
      came.push(...last);
    }
    expect(came).toEqual(await childrenOf(groups));
  });
});

describe('changes of the limit while everything else goes on', () => {
  it('lose nothing, repeat nothing and leave no rows in a storm of everything', async () => {
    const agents = await fleet.enrol(4);
    const came = new Map(agents.map((each) => [each, [] as number[]]));
    const lasts = new Map<RawAgent, number[]>();
    const groups: number[] = [];
    let requesting = true;
    const request = async () => {
      for (let i = 0; i < 12; i++) groups.push(await fleet.install(agents));
      requesting = false;
    };
    const change = async () => {
      for (let i = 0; requesting; i++) await bound([1, 0, 3, null, 2][i % 5]!);
    };
    const process = async () => {
      while (requesting) await fleet.processEvents();
    };
    const exchange = async (on: RawAgent) => {
      let last: number[] = [];
      while (requesting) {
        last = await work(on, last);
        came.get(on)!.push(...last);
      }
      lasts.set(on, last);
    };
    await Promise.all([request(), change(), process(), ...agents.map(exchange)]);
    await fleet.processEvents();
    await bound(null);
    for (const each of agents) {
      came.get(each)!.push(...(await drain(fleet, each, lasts.get(each))));
      const rows = await fleet.db.query<{ id: number }>(
        'select id from activity where computer_id = $1 and parent_id = any($2::int[]) order by id',
        [each.id, groups],
      );
      expect(came.get(each)).toEqual(rows.map(({ id }) => id));
    }
    await fleet.processEvents();
    const [open] = await fleet.db.query(
      'select count(*)::int as count from activity where parent_id = any($1::int[]) and status <> $2',
      [groups, 'succeeded'],
    );
    expect(open).toEqual({ count: 0 });
  });
});
