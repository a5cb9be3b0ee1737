import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { usgProfile } from '../../support/compliance/usg.ts';
import { TriggerWorld } from '../../support/scripts/scripts.ts';

/** An hour before and months after the clock of the tests. */
const [PAST, FUTURE] = ['2026-11-21T11:00:00Z', '2027-02-01T02:00:00Z'];
let t: TriggerWorld;

beforeAll(async () => {
  t = await TriggerWorld.create();
});
afterAll(() => t?.close());
beforeEach(() => t.next());

async function create(over: object): Promise<number> {
  const { status, body } = await t.call('POST', '/usg-profiles', usgProfile(over));
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const saved = async (id: number) => (await t.call('GET', `/usg-profiles/${id}/upcoming-dates?limit=12`)).body;

const preview = (of: string, body: object, limit?: number) => t.previewDates('usg', of, body, limit);

describe('POST /usg-profiles:preview-dates', () => {
  it.each([
    ['weekly', { schedule: 'FREQ=WEEKLY;BYDAY=MO', start_date: FUTURE }, 12],
    ['with a start that is no date of the rule', { schedule: 'FREQ=WEEKLY;BYDAY=FR', start_date: FUTURE }, 12],
    ['with a start in the past', { schedule: 'FREQ=MONTHLY;BYDAY=-1FR', start_date: PAST }, 12],
    ['with a start in the past alone', { schedule: 'FREQ=WEEKLY;COUNT=1', start_date: PAST }, 0],
    ['a number of times', { schedule: 'FREQ=WEEKLY;COUNT=3', start_date: PAST }, 2],
    ['until a date', { schedule: 'FREQ=MONTHLY;UNTIL=20270501', start_date: FUTURE }, 4],
    [
      'in a night in which clocks skip its time',
      { schedule: 'FREQ=WEEKLY', start_date: '2027-03-21T01:30:00Z', timezone: 'Europe/Berlin' },
      12,
    ],
    [
      'across a change of the clocks',
      { schedule: 'FREQ=MONTHLY', start_date: '2027-02-15T08:30:00Z', timezone: 'America/New_York' },
      12,
    ],
  ])('shows what the profile then has: %s', async (_, fields, count) => {
    const { status, body } = await preview('', fields);
    expect([status, body.dates?.length], JSON.stringify(body)).toEqual([200, count]);
    expect(await saved(await create(fields))).toEqual(body);
  });

  it('moves a date that clocks skip, and has five unless it is requested otherwise', async () => {
    const fields = { schedule: 'FREQ=WEEKLY', start_date: '2027-03-21T01:30:00Z', timezone: 'Europe/Berlin' };
    // At 2:30, which 28 March does not have.
    const dates = ['2027-03-21T01:30:00Z', '2027-03-28T01:30:00Z', '2027-04-04T00:30:00Z'];
    expect((await preview('', fields, 3)).body).toEqual({ timezone: 'Europe/Berlin', dates });
    expect((await t.call('POST', '/usg-profiles:preview-dates', fields)).body.dates).toHaveLength(5);
    expect((await preview('', fields, 0)).body).toMatchObject({ error: 'InvalidParameter' });
  });

  it.each([
    ['body.schedule', { start_date: FUTURE }],
    ['body.start_date', { schedule: 'FREQ=WEEKLY' }],
    ['body.schedule', { schedule: 'FREQ=WEEKLY;BYDAY=XX', start_date: FUTURE }],
    ['body.schedule', { schedule: 'FREQ=WEEKLY;UNTIL=20200101', start_date: FUTURE }],
    ['body.start_date', { schedule: 'FREQ=WEEKLY', start_date: '2027-02-30' }],
    ['body.start_date', { schedule: 'FREQ=WEEKLY', start_date: '' }],
    ['body.timezone', { schedule: 'FREQ=WEEKLY', start_date: FUTURE, timezone: 'Mars/Base' }],
    ['body.title', { schedule: 'FREQ=WEEKLY', start_date: FUTURE, title: 'Monthly baseline' }],
  ])('rejects what creating rejects, at %s', async (path, body) => {
    expect((await preview('', body)).body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path }] });
  });

  it('rejects dates that are too close', async () => {
    expect((await preview('', { schedule: 'FREQ=DAILY', start_date: FUTURE })).body).toMatchObject({
      error: 'IntervalTooShort',
      details: [{ path: 'body.schedule' }],
    });
  });
});

describe('POST /usg-profiles/<id>:preview-dates', () => {
  it.each([
    ['another rule', { schedule: 'FREQ=MONTHLY;BYMONTHDAY=-1' }],
    ['another time zone', { timezone: 'Asia/Tokyo' }],
    ['both', { schedule: 'FREQ=WEEKLY;BYDAY=SU;BYHOUR=2;BYMINUTE=30', timezone: 'Europe/Berlin' }],
    ['an end', { schedule: 'FREQ=WEEKLY;COUNT=3' }],
    ['nothing', {}],
    ['null', { schedule: null, timezone: null }],
  ])('shows what the profile has after the change: %s', async (_, patch) => {
    for (const start_date of [PAST, FUTURE]) {
      const id = await create({ schedule: 'FREQ=WEEKLY', start_date });
      const { status, body } = await preview(`/${id}`, patch);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.dates.length).toBeGreaterThan(0);
      expect((await t.call('PATCH', `/usg-profiles/${id}`, patch)).status).toBe(200);
      expect(await saved(id)).toEqual(body);
    }
  });

  it('rejects what the change rejects', async () => {
    const id = await create({ schedule: 'FREQ=WEEKLY', start_date: PAST });
    for (const [path, patch] of [
      ['body.schedule', { schedule: 'weekly' }],
      // Its start, which has passed, would be its only date.
      ['body.schedule', { schedule: 'FREQ=WEEKLY;COUNT=1' }],
      ['body.timezone', { timezone: 'Nowhere' }],
      ['body.start_date', { start_date: FUTURE }],
    ] as const) {
      const { body } = await preview(`/${id}`, patch);
      expect(body).toMatchObject({ error: 'InvalidParameter', details: [{ path }] });
    }
    expect((await preview(`/${id}`, { schedule: 'FREQ=DAILY' })).body.error).toBe('IntervalTooShort');
    expect((await preview('/999999', {})).body.error).toBe('UnknownUsgProfile');
    await t.call('POST', `/usg-profiles/${id}:archive`);
    expect((await preview(`/${id}`, {})).body).toMatchObject({ error: 'ProfileArchived', code: 400 });
  });
});
