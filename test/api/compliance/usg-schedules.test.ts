import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';
import { processorMs } from '../../support/common/process.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const post = (over: object) =>
  world.app.call('POST', '/usg-profiles', { token: world.tokens.admin, body: usgProfile(over) });
const stored = async () =>
  (
    await world.db.query(
      'select (select count(*) from usg_profile) as profiles, (select count(*) from outbox) as commands, (select count(*) from event) as events',
    )
  )[0];
/** Far beyond what is measured, far below a search to the end of time. */
const BOUND_MS = 3_000;

async function expectRejected(schedule: string, error: string): Promise<void> {
  const before = await stored();
  let response: Awaited<ReturnType<typeof post>> | undefined;
  expect(
    await processorMs(async () => {
      response = await post({ schedule });
    }),
  ).toBeLessThan(BOUND_MS);
  const { status, body } = response!;
  expect({ status, error: body.error, path: body.details[0].path }).toEqual({
    status: 400,
    error,
    path: 'body.schedule',
  });
  expect(await stored()).toEqual(before);
}

describe('RRULE-bad', () => {
  it.each([
    'FREQ=DAILY',
    'FREQ=DAILY;INTERVAL=6',
    'FREQ=HOURLY',
    'FREQ=HOURLY;INTERVAL=167',
    'FREQ=MINUTELY;COUNT=1',
    'FREQ=DAILY;UNTIL=20261202',
    'FREQ=SECONDLY',
    'FREQ=WEEKLY;BYDAY=MO,FR',
    'FREQ=WEEKLY;BYHOUR=1,13',
    'FREQ=WEEKLY;BYHOUR=0,1,2,3;BYMINUTE=0,15,30,45;BYSECOND=0,30',
    'FREQ=MONTHLY;BYMONTHDAY=1,5',
    'FREQ=MONTHLY;BYMONTHDAY=1,-1',
    'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=1,2',
    'FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU',
    'FREQ=YEARLY;BYYEARDAY=1,366',
    'FREQ=YEARLY;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12;BYDAY=MO,TU',
    'FREQ=MONTHLY;BYMONTHDAY=1,8,15,23',
    'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=22,-1',
    'FREQ=YEARLY;INTERVAL=4;BYYEARDAY=60,-306',
    'FREQ=MONTHLY;BYMONTHDAY=1,28;COUNT=2',
  ])('%s: more frequent than weekly', (schedule) => expectRejected(schedule, 'IntervalTooShort'));

  it.each([
    '',
    'weekly',
    'FREQ=',
    'FREQ=FORTNIGHTLY',
    'INTERVAL=1',
    'FREQ=WEEKLY;',
    'FREQ=WEEKLY;;INTERVAL=1',
    'FREQ=WEEKLY;INTERVAL=0',
    'FREQ=WEEKLY;INTERVAL=-1',
    'FREQ=WEEKLY;INTERVAL=.007',
    'FREQ=WEEKLY;INTERVAL=1e3',
    'FREQ=WEEKLY;INTERVAL=99999999999999999999',
    'FREQ=WEEKLY;COUNT=0',
    'FREQ=WEEKLY;COUNT=1e9',
    'FREQ=WEEKLY;COUNT=1000000000',
    'FREQ=WEEKLY;UNTIL=20200101T000000Z',
    'FREQ=WEEKLY;UNTIL=20300230',
    'FREQ=WEEKLY;UNTIL=tomorrow',
    'FREQ=WEEKLY;COUNT=2;UNTIL=20400101',
    'FREQ=WEEKLY;FREQ=YEARLY',
    'FREQ=WEEKLY;BYDAY=XX',
    'FREQ=WEEKLY;BYDAY=1MO',
    'FREQ=WEEKLY;BYDAY=MO;BYDAY=TU',
    'FREQ=WEEKLY;BYMONTHDAY=1',
    'FREQ=WEEKLY;BYSETPOS=1',
    'FREQ=MONTHLY;BYDAY=6MO',
    'FREQ=MONTHLY;BYMONTHDAY=32',
    'FREQ=MONTHLY;BYMONTHDAY=0',
    'FREQ=MONTHLY;BYWEEKNO=3',
    'FREQ=YEARLY;BYMONTH=13',
    'FREQ=YEARLY;BYYEARDAY=367',
    'FREQ=YEARLY;BYWEEKNO=54',
    'FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO,TU;BYSETPOS=1',
    'FREQ=YEARLY;BYEASTER=0',
    'FREQ=WEEKLY;BYHOUR=24',
    'FREQ=WEEKLY;WKST=XX',
    'FREQ=WEEKLY;X-RULE=1',
    'FREQ=WEEKLY;TZID=Europe/Vienna',
    'DTSTART:20260101T000000Z\nRRULE:FREQ=WEEKLY',
    'RRULE:FREQ=WEEKLY\nRRULE:FREQ=MONTHLY',
    'FREQ=WEEKLY\nEXRULE:FREQ=MONTHLY',
    'EXDATE:20260101T000000Z',
    'FREQ=WEEKLY;__proto__=1',
    `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, day) => day + 1).join(',')}`,
  ])('%s: no rule to take', (schedule) => expectRejected(schedule, 'InvalidParameter'));

  it.each([
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYMONTH=4,6,9,11;BYMONTHDAY=31',
    'FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31',
    'FREQ=YEARLY;BYMONTH=1;BYYEARDAY=200',
    'FREQ=WEEKLY;BYDAY=MO;BYSETPOS=3',
    'FREQ=MONTHLY;INTERVAL=12;BYMONTH=3',
    'FREQ=YEARLY;BYMONTH=1;BYDAY=40MO',
  ])('%s: never', (schedule) => expectRejected(schedule, 'InvalidParameter'));

  it.each([
    ['FREQ=WEEKLY', '2026-12-08T02:00:00Z'],
    ['rrule:freq=weekly;byday=mo', '2026-12-14T02:00:00Z'],
    ['FREQ=DAILY;INTERVAL=7', '2026-12-08T02:00:00Z'],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=WE;WKST=SU', '2026-12-16T02:00:00Z'],
    ['FREQ=MONTHLY;BYDAY=-1FR', '2026-12-25T02:00:00Z'],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1', '2027-01-01T02:00:00Z'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', '2028-02-29T02:00:00Z'],
    ['FREQ=YEARLY;BYWEEKNO=20', '2027-05-18T02:00:00Z'],
    ['FREQ=YEARLY;BYMONTH=3,9', '2027-03-01T02:00:00Z'],
    ['FREQ=WEEKLY;UNTIL=20270601', '2026-12-08T02:00:00Z'],
    ['FREQ=WEEKLY;UNTIL=20261208', '2026-12-08T02:00:00Z'],
    ['FREQ=HOURLY;INTERVAL=168', '2026-12-08T02:00:00Z'],
    ['FREQ=HOURLY;INTERVAL=200', '2026-12-09T10:00:00Z'],
    ['FREQ=SECONDLY;INTERVAL=604801', '2026-12-08T02:00:01Z'],
    ['FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=2', '2026-12-08T02:00:00Z'],
    ['FREQ=MONTHLY;BYDAY=TU;BYSETPOS=-5', '2027-03-02T02:00:00Z'],
    ['FREQ=WEEKLY;COUNT=1', null],
  ])('but takes %s', async (schedule, second) => {
    const { status, body } = await post({ schedule });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toMatchObject({ schedule, next_run_time: '2026-12-01T02:00:00Z' });
    const [row] = await world.db.query('select planned_dates[2] as second from usg_profile where id = $1', [body.id]);
    const planned = row!['second'] as Date | null;
    expect(planned && `${planned.toISOString().slice(0, 19)}Z`).toBe(second);
  });

  it.each([
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=1', '2026-12-03', ['2026-12-03T00:00:00.000Z']],
    ['FREQ=WEEKLY;BYDAY=MO;COUNT=2', '2026-12-03', ['2026-12-03T00:00:00.000Z', '2026-12-14T00:00:00.000Z']],
    ['FREQ=MONTHLY;BYMONTHDAY=1;COUNT=1', '2026-11-10', []],
    ['FREQ=MONTHLY;BYMONTHDAY=1;COUNT=2', '2026-11-10', ['2026-12-01T00:00:00.000Z']],
  ])('counts the start among %s from %s on', async (schedule, start_date, dates) => {
    const { status, body } = await post({ schedule, start_date });
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body.next_run_time).toBe(dates[0]?.replace('.000', '') ?? null);
    const [row] = await world.db.query(
      `select planned_dates, (select count(*) from usg_run where profile_id = usg_profile.id) as runs
       from usg_profile where id = $1`,
      [body.id],
    );
    expect(row!['runs']).toBe(start_date < '2026-11-21' ? 1 : 0);
    const ahead = (row!['planned_dates'] as Date[]).filter((date) => date > world.clock.now());
    expect(ahead.map((date) => date.toISOString())).toEqual(dates);
  });

  it.each([
    ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=2', '2026-11-29'],
    ['FREQ=WEEKLY;BYDAY=TU,WE;COUNT=2', '2026-11-30'],
  ])('is checked by its own dates, though the start is one of those that %s counts', async (schedule, start_date) => {
    expect((await post({ schedule, start_date })).body).toMatchObject({ error: 'IntervalTooShort', code: 400 });
  });

  it('knows the weeks of years long past', async () => {
    const { body } = await post({ schedule: 'FREQ=YEARLY;BYWEEKNO=52;BYDAY=FR', start_date: '1955-01-01' });
    expect(body).toMatchObject({ next_run_time: '2026-12-25T00:00:00Z' });
  });

  it('is rejected in edits too', async () => {
    const { body: profile } = await post({});
    const patch = (schedule: string) =>
      world.app.call('PATCH', `/usg-profiles/${profile.id}`, { token: world.tokens.admin, body: { schedule } });
    expect((await patch('FREQ=DAILY')).body).toMatchObject({ error: 'IntervalTooShort', code: 400 });
    expect((await patch('FREQ=WEEKLY;INTERVAL=0')).body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    const { body } = await world.app.call('GET', `/usg-profiles/${profile.id}`, { token: world.tokens.admin });
    expect(body).toEqual(profile);
  });

  it.each([
    ['FREQ=WEEKLY;COUNT=1', 201],
    ['FREQ=WEEKLY;COUNT=3', 400],
    ['FREQ=WEEKLY;UNTIL=20261120', 400],
    ['FREQ=YEARLY;UNTIL=20261231', 400],
  ])('has %s used up, in an edit as in a new profile', async (schedule, ofNew) => {
    const start_date = '2025-03-03T04:00:00Z';
    const rejected = { error: 'InvalidParameter', code: 400, details: [{ path: 'body.schedule' }] };
    const made = await post({ schedule, start_date });
    expect(made.status, made.text).toBe(ofNew);
    if (ofNew === 400) expect(made.body).toMatchObject(rejected);
    const { body: profile } = await post({ start_date });
    const before = await stored();
    const path = `/usg-profiles/${profile.id}`;
    const edit = { token: world.tokens.admin, body: { schedule, title: 'Changed' } };
    expect((await world.app.call('PATCH', path, edit)).body).toMatchObject(rejected);
    expect(await stored()).toEqual(before);
    expect((await world.app.call('GET', path, { token: world.tokens.admin })).body).toEqual(profile);
  });

  it('plans no two dates closer than seven days, also when it is changed', async () => {
    const planned = async (id: number) => {
      const [row] = await world.db.query('select planned_dates from usg_profile where id = $1', [id]);
      return (row!['planned_dates'] as Date[]).filter((date) => date > world.clock.now());
    };
    const { body: profile } = await post({ start_date: '2026-12-03T02:00:00Z' });
    for (const schedule of ['FREQ=WEEKLY;BYDAY=MO', 'FREQ=WEEKLY;BYDAY=FR', 'FREQ=MONTHLY;BYMONTHDAY=4,24']) {
      const edit = { token: world.tokens.admin, body: { schedule } };
      expect((await world.app.call('PATCH', `/usg-profiles/${profile.id}`, edit)).status).toBe(200);
      const dates = await planned(profile.id);
      expect(dates).toHaveLength(26);
      expect(dates[0]).toEqual(new Date('2026-12-03T02:00:00Z'));
      const gaps = dates.slice(1).map((date, i) => (date.getTime() - dates[i]!.getTime()) / 86_400_000);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(7);
    }
  });
});
