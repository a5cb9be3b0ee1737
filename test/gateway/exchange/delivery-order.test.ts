import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/services/common/ports.ts';
import { createEngine, type Engine } from '../../../src/services/engine/engine.ts';
import { createServedFleet, drain, type RawAgent, type ServedFleet, work } from '../../support/agents/raw-agent.ts';

let fleet: ServedFleet;
let engine: Engine;
let agent: RawAgent;

beforeAll(async () => {
  fleet = await createServedFleet();
  engine = createEngine({ db: fleet.db, genericPlanDb: fleet.db, clock: systemClock, settings: { expiryDays: 30 } });
});
afterAll(() => fleet?.close());
beforeEach(async () => {
  [agent] = (await fleet.enrol(1)) as [RawAgent];
});

async function operationsOf(groups: readonly number[]): Promise<number[]> {
  const rows = await fleet.db.query<{ id: number }>(
    'select id from activity where parent_id = any($1::int[]) and computer_id = $2 order by id',
    [groups, agent.id],
  );
  return rows.map(({ id }) => id);
}

/** Opens the batches of groups in the given order, as workers may. */
async function open(...groups: number[]): Promise<void> {
  for (const group of groups) {
    const rows = await fleet.db.query<{ id: number }>('select id from lane where parent_id = $1', [group]);
    for (const { id } of rows) await engine.processPendingEvents(id, false);
  }
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function post(path: string, body: object): Promise<number> {
  const response = await fleet.app.call('POST', path, { token: fleet.token, body });
  expect(response.status).toBe(200);
  return response.body.id;
}

const schedule = () =>
  post('/snaps', {
    action: 'install',
    computer_ids: [agent.id],
    snaps: [{ name: 'hello' }],
    deliver_after: inAnHour(),
  });

/** As if the hour had passed. */
async function becomeDue(group: number): Promise<void> {
  const past = `deliver_at = deliver_at - interval '2 hours'`;
  await fleet.db.query(`update activity set ${past} where id = $1 or parent_id = $1`, [group]);
  await fleet.db.query(
    `update agent_message set ${past} where activity_id in (select id from activity where parent_id = $1)`,
    [group],
  );
}

describe('the order in which a computer gets its operations', () => {
  it('is that of their acceptance, whichever workflow starts first, or none', async () => {
    const groups: number[] = [];
    for (let i = 0; i < 24; i++) groups.push(await fleet.install([agent]));
    await open(...groups.slice(12).toReversed());
    expect(await work(agent)).toEqual(await operationsOf(groups));
  });

  it('holds between a large group and a single operation, and leaves other computers alone', async () => {
    const others = await fleet.enrol(30);
    const large = await fleet.install([agent, ...others]);
    const small = await fleet.install([agent]);
    const elsewhere = await fleet.install(others.slice(0, 1));
    await open(small, elsewhere);
    expect(await work(agent)).toEqual([]);
    expect(await work(others[0]!)).toEqual([]);
    const [outsider] = (await fleet.enrol(1)) as [RawAgent];
    const free = await fleet.install([outsider]);
    await open(free);
    expect(await work(outsider)).toHaveLength(1);
    await open(large);
    expect(await work(agent)).toEqual(await operationsOf([large, small]));
    expect(await work(others[0]!)).toHaveLength(2);
  });

  it('lets what is due pass what is scheduled, which then goes before everything younger', async () => {
    const scheduled = await schedule();
    const first = await fleet.install([agent]);
    await open(first, scheduled);
    expect(await work(agent)).toEqual(await operationsOf([first]));
    const second = await fleet.install([agent]);
    await open(second);
    await becomeDue(scheduled);
    expect(await work(agent, await operationsOf([first]))).toEqual(await operationsOf([scheduled, second]));
  });

  it('lets what is due pass the scheduled whose batch is not open yet, and waits for it once that is due', async () => {
    const scheduled = await schedule();
    const first = await fleet.install([agent]);
    await open(first);
    expect(await work(agent)).toEqual(await operationsOf([first]));
    await becomeDue(scheduled);
    const second = await fleet.install([agent]);
    await open(second);
    expect(await work(agent, await operationsOf([first]))).toEqual([]);
    await open(scheduled);
    expect(await work(agent)).toEqual(await operationsOf([scheduled, second]));
  });

  it('waits for nothing that was canceled, also before its batch was opened', async () => {
    const canceled = await fleet.install([agent]);
    const next = await fleet.install([agent]);
    await open(next);
    await fleet.app.call('POST', '/activities/cancel', { token: fleet.token, body: { activity_ids: [canceled] } });
    await open(canceled);
    expect(await work(agent)).toEqual(await operationsOf([next]));
  });

  it('holds for repetitions, which are accepted when they are requested', async () => {
    const first = await fleet.install([agent]);
    await open(first);
    await drain(fleet, agent);
    const second = await fleet.install([agent]);
    const response = await fleet.app.call('POST', '/activities/reapply', {
      token: fleet.token,
      body: { activity_ids: [first] },
    });
    const third = await fleet.install([agent]);
    const [again] = response.body;
    await open(third, again, second);
    expect(await work(agent)).toEqual(await operationsOf([second, again, third]));
  });

  it('holds when calls, workers and exchanges all happen at once', async () => {
    const agents = await fleet.enrol(3);
    const came = new Map(agents.map((each) => [each, [] as number[]]));
    let creating = true;
    const create = async () => {
      const call = async () => {
        for (let i = 0; i < 6; i++) await fleet.install(agents);
      };
      await Promise.all([call(), call(), call(), call()]);
      creating = false;
    };
    const openAll = async () => {
      while (creating) {
        const rows = await fleet.db.query<{ id: number }>('select id from lane where open_count > 0 order by random()');
        for (const { id } of rows) await engine.processPendingEvents(id, false);
      }
    };
    const exchange = async (on: RawAgent) => {
      let last: number[] = [];
      while (creating) {
        last = await work(on, last);
        came.get(on)!.push(...last);
      }
      await fleet.processEvents();
      came.get(on)!.push(...(await drain(fleet, on, last)));
    };
    await Promise.all([create(), openAll(), openAll(), ...agents.map(exchange)]);
    for (const each of agents) {
      expect(came.get(each)).toHaveLength(24);
      expect(came.get(each)).toEqual(came.get(each)!.toSorted((a, b) => a - b));
    }
  });
});
