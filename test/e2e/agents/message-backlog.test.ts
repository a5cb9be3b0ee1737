import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActivityBody } from '../../../tools/harness/stack-client.ts';
import { Scenario } from '../../support/stack/stack-scenario.ts';

const COMPUTERS = 2;
const GROUPS = 5;
const SENT = `select count(*)::int as n from agent_message where state = 'sent' group by computer_id`;

/** The backlog limit with real processes, from the first request to the last result. */
describe('the message backlog limit, end to end', { timeout: 180_000 }, () => {
  let scenario: Scenario;
  const groups: number[] = [];

  beforeAll(async () => {
    scenario = await Scenario.start(COMPUTERS);
  }, 120_000);

  afterAll(() => scenario?.end(), 60_000);

  async function limit(bound: number | null): Promise<void> {
    const method = bound === null ? 'DELETE' : 'PUT';
    const body = bound === null ? undefined : { max_message_backlog: bound };
    const response = await scenario.api.request(method, '/message-backlog-settings', body);
    expect(response.status).toBe(bound === null ? 204 : 200);
  }

  /** The distinct statuses of each group's operations. */
  async function statuses(): Promise<string[]> {
    const activities = await Promise.all(groups.map((id) => scenario.api.activity(id)));
    return activities.map(({ children }) => [...new Set(children.map((c: ActivityBody) => c.activity_status))].join());
  }

  const untilStatuses = (...wanted: string[]) =>
    scenario.stack.waitUntil(`statuses ${wanted.join(' ')}`, async () => (await statuses()).join() === wanted.join(), {
      limitMs: 60_000,
    });

  it('lets what exceeds it wait while computers are offline, and a restart of API and worker changes nothing', async () => {
    const { api, fleet, stack } = scenario;
    await fleet.stop();
    await limit(2);
    const atTheLimit = ['undelivered', 'undelivered', 'waiting', 'waiting', 'waiting'];
    for (let i = 0; i < GROUPS; i++) groups.push(await api.actOnSnaps(scenario.computers));
    expect(await statuses()).toEqual(atTheLimit);
    await stack.kill('api', 'worker');
    await scenario.untilReady();
    expect(await statuses()).toEqual(atTheLimit);
    expect((await api.request('GET', '/message-backlog-settings')).body).toEqual({ max_message_backlog: 2 });
    expect(fleet.executions().size).toBe(0);
  });

  it('holds everything at 0', async () => {
    await limit(0);
    await scenario.fleet.restart({});
    await untilStatuses('waiting', 'waiting', 'waiting', 'waiting', 'waiting');
    await scenario.stack.kill('api', 'worker');
    await scenario.untilReady();
    // Agents exchange again and get nothing.
    const [{ since }] = (await scenario.stack.rows('select clock_timestamp() as since')) as [{ since: Date }];
    await scenario.stack.waitUntil('all computers to come by', async () => {
      const rows = await scenario.stack.rows<{ n: number }>(
        'select count(*)::int as n from computer_contact where computer_id = any($1::int[]) and last_ping_time > $2',
        [scenario.computers, since],
      );
      return rows[0]!.n === COMPUTERS;
    });
    expect(await statuses()).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'waiting']);
    expect(scenario.fleet.executions().size).toBe(0);
  });

  it('moves on one by one as the queue drains, and releases the rest when it is removed', async () => {
    const { api, stack } = scenario;
    await limit(1);
    let most = 0;
    await stack.waitUntil(
      'the next group to end',
      async () => {
        for (const { n } of await stack.rows<{ n: number }>(SENT)) most = Math.max(most, n);
        return (await api.activity(groups[1]!)).activity_status === 'succeeded';
      },
      { limitMs: 60_000, everyMs: 50 },
    );
    expect(most).toBe(1);
    await limit(0);
    groups.push(await api.actOnSnaps(scenario.computers), await api.actOnSnaps(scenario.computers));
    expect((await statuses()).slice(GROUPS)).toEqual(['waiting', 'waiting']);
    await limit(null);
    for (const group of groups) await scenario.expectSucceeded(group);
  });

  it('ran every operation once, on its computer', async () => {
    const rows = await scenario.stack.rows<{ id: number; computer_id: number }>(
      'select id, computer_id from activity where parent_id = any($1::int[]) order by id',
      [groups],
    );
    const executions = [...scenario.fleet.executions()].toSorted(([a], [b]) => a - b);
    expect(executions).toEqual(rows.map(({ id, computer_id }) => [id, [{ computerId: computer_id }]]));
    expect(executions).toHaveLength((GROUPS + 2) * COMPUTERS);
  });
});
