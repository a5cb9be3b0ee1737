import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: unknown, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = async (over: object = {}): Promise<number> =>
  (await call('POST', '/usg-profiles', usgProfile(over))).body.id;

/** A run by its counters: passing, failing, not started, in progress. @returns its activity */
async function run(profile: number, startedAt: string, counters: readonly number[], scheduledAt: string | null = null) {
  const [row] = await world.db.query<{ activity_id: number }>(
    `with a as (insert into activity (account_id, type, summary, status) values ($1, 'UsgActivity', 's', 'succeeded') returning id)
     insert into usg_run (account_id, profile_id, activity_id, started_at, nominal_time, computer_count, passing_count, failing_count,
       not_started_count, in_progress_count)
     select $1, $2, id, $3, $4, $5::int + $6 + $7 + $8, $5, $6, $7, $8 from a returning activity_id`,
    [world.accountId, profile, startedAt, scheduledAt, ...counters],
  );
  return row!.activity_id;
}

const day = (date: string, [passing, failing, not_audited]: readonly number[]) => ({
  date,
  passing,
  failing,
  not_audited,
});

describe('GET /usg-profiles/compliance', () => {
  const compliance = async (query: string, token?: string) =>
    (await call('GET', `/usg-profiles/compliance?${query}`, undefined, token)).body.days;

  it('goes on with the results of a profile until it has others', async () => {
    const id = await create();
    await run(id, '2026-11-10T02:00:00Z', [1, 1, 1, 0]);
    await run(id, '2026-11-18T00:00:00Z', [0, 0, 2, 1]);
    await run(id, '2026-11-19T01:00:00Z', [0, 3, 0, 0]);
    await run(id, '2026-11-19T23:59:59Z', [2, 0, 0, 1]);
    expect(await compliance(`days=4&usg_profile_id=${id}`)).toEqual([
      day('2026-11-18', [1, 1, 1]),
      day('2026-11-19', [2, 0, 1]),
      day('2026-11-20', [2, 0, 1]),
      day('2026-11-21', [2, 0, 1]),
    ]);
    const month = await compliance(`usg_profile_id=${id}`);
    expect(month).toHaveLength(30);
    expect(month[17]).toEqual(day('2026-11-09', [0, 0, 0]));
    expect(month[18]).toEqual(day('2026-11-10', [1, 1, 1]));
    expect(await compliance(`days=1&usg_profile_id=${id}`)).toEqual([day('2026-11-21', [2, 0, 1])]);
    await call('POST', `/usg-profiles/${id}:archive`);
    expect(await compliance(`days=1&usg_profile_id=${id}`)).toEqual([day('2026-11-21', [2, 0, 1])]);
    expect(await compliance('days=1')).toEqual([day('2026-11-21', [0, 0, 0])]);
  });

  it('counts what a first run has not audited, and adds the active profiles that the caller may view', async () => {
    const [servers, everywhere] = [await create({ access_group: 'servers' }), await create()];
    await run(servers, '2026-11-21T01:00:00Z', [0, 0, 2, 1]);
    await run(everywhere, '2026-11-20T01:00:00Z', [5, 2, 0, 0]);
    expect(await compliance('days=2')).toEqual([day('2026-11-20', [5, 2, 0]), day('2026-11-21', [5, 2, 3])]);
    expect(await compliance('days=1', world.tokens.servers)).toEqual([day('2026-11-21', [0, 0, 3])]);
    expect(
      (await call('GET', `/usg-profiles/compliance?usg_profile_id=${everywhere}`, undefined, world.tokens.servers))
        .body,
    ).toMatchObject({
      error: 'UnknownUsgProfile',
      code: 404,
    });
  });

  it.each(['days=0', 'days=367', 'days=x', 'usg_profile_id=0', 'usg_profile_id=a', 'profile=1'])(
    'rejects %s',
    async (query) => {
      expect(await call('GET', `/usg-profiles/compliance?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'InvalidParameter' },
      });
    },
  );
});

describe('GET /usg-profiles/<id>/runs', () => {
  it('lists runs newest first, also those whose activity is gone', async () => {
    const id = await create();
    const first = await run(id, '2026-11-10T02:00:07Z', [2, 1, 0, 0], '2026-11-10T02:00:00Z');
    const second = await run(id, '2026-11-19T01:00:00Z', [0, 0, 1, 1]);
    await world.db.query('delete from activity where id = $1', [first]);
    const { body } = await call('GET', `/usg-profiles/${id}/runs`);
    expect(body).toMatchObject({ count: 2, next: null, previous: null });
    expect(body.results).toEqual([
      {
        activity_id: second,
        scheduled_time: null,
        started_at: '2026-11-19T01:00:00Z',
        open: true,
        computers: 2,
        passing: 0,
        failing: 0,
        in_progress: 1,
        not_started: 1,
        pass_rate: null,
      },
      {
        activity_id: null,
        scheduled_time: '2026-11-10T02:00:00Z',
        started_at: '2026-11-10T02:00:07Z',
        open: false,
        computers: 3,
        passing: 2,
        failing: 1,
        in_progress: 0,
        not_started: 0,
        pass_rate: 67,
      },
    ]);
    const page = (await call('GET', `/usg-profiles/${id}/runs?limit=1&offset=1`)).body;
    expect(page.results).toEqual([body.results[1]]);
    expect(page.previous).toContain(`/usg-profiles/${id}/runs?limit=1&offset=0`);
    expect((await call('GET', `/usg-profiles/${id}/runs?limit=-1`)).status).toBe(400);
    expect((await call('GET', `/usg-profiles/${id}/runs`, undefined, world.tokens.servers)).status).toBe(404);
  });
});

describe('GET /usg-profiles/<id>/upcoming-dates', () => {
  it('lists the next dates of the schedule, in UTC', async () => {
    const id = await create({ timezone: 'Europe/Berlin', schedule: 'FREQ=MONTHLY', start_date: '2027-02-15T08:30:00' });
    const dates = async (query = '') => (await call('GET', `/usg-profiles/${id}/upcoming-dates${query}`)).body;
    expect(await dates('?limit=3')).toEqual({
      timezone: 'Europe/Berlin',
      // The start is in UTC; 9:30 in Berlin is an hour earlier in UTC in summer.
      dates: ['2027-02-15T08:30:00Z', '2027-03-15T08:30:00Z', '2027-04-15T07:30:00Z'],
    });
    expect((await dates()).dates).toHaveLength(5);
    expect((await dates('?limit=12')).dates).toHaveLength(12);
    for (const limit of ['0', '13', 'x']) {
      expect(await dates(`?limit=${limit}`)).toMatchObject({ error: 'InvalidParameter', code: 400 });
    }
    await call('POST', `/usg-profiles/${id}:archive`);
    expect((await dates()).dates).toEqual([]);
    expect((await call('GET', '/usg-profiles/999999/upcoming-dates')).body.error).toBe('UnknownUsgProfile');
  });
});
