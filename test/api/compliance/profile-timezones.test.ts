import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { usgProfile } from '../../support/compliance/usg.ts';
import { PUBLIC_URL } from '../../support/http/app.ts';
import { MINUTE, text, TriggerWorld } from '../../support/scripts/scripts.ts';

const DAY = 24 * 60 * MINUTE;
let t: TriggerWorld;

beforeAll(async () => {
  t = await TriggerWorld.create();
});
afterAll(() => t?.close());
beforeEach(() => t.next());

const rejected = { error: 'InvalidParameter', code: 400, details: [{ path: 'body.timezone' }] };
const WRONG = ['', 'Europe', 'Europe/Nowhere', '+01:00', 'IST', 'CEST', ' UTC', 7];

/** What a rejection must leave as it was. */
const stored = async () =>
  (
    await t.world.db.query(
      `select (select md5(string_agg(p::text, '')) from usg_profile p) as usg,
         (select md5(string_agg(p::text, '')) from script_profile p) as script,
         (select count(*) from event) as events, (select count(*) from outbox) as commands`,
    )
  )[0];

describe('the time zone of a USG profile', () => {
  const create = (over: object) => t.call('POST', '/usg-profiles', usgProfile(over));
  const change = (id: number, patch: object) => t.call('PATCH', `/usg-profiles/${id}`, patch);

  it('is UTC unless it is named, and shown', async () => {
    for (const over of [{}, { timezone: null }, { timezone: 'UTC' }]) {
      const { status, body } = await create(over);
      expect([status, body.timezone, body.next_run_time]).toEqual([201, 'UTC', '2026-12-01T02:00:00Z']);
      expect((await t.call('GET', `/usg-profiles/${body.id}`)).body).toEqual(body);
    }
    const [row] = await t.world.db.query('select timezone from usg_profile limit 1');
    expect(row).toEqual({ timezone: 'UTC' });
  });

  it('describes on which days and at which hours the rule has its dates', async () => {
    const start_date = '2026-11-20T00:00:00Z';
    for (const [schedule, timezone, next] of [
      // Monday 00:30 there is Sunday here.
      ['FREQ=WEEKLY;BYDAY=MO;BYHOUR=0;BYMINUTE=30', 'Asia/Tokyo', '2026-11-22T15:30:00Z'],
      ['FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=22', 'America/New_York', '2026-12-02T03:00:00Z'],
      // The start is 19 November there, a Thursday at 19:00.
      ['FREQ=WEEKLY', 'America/New_York', '2026-11-27T00:00:00Z'],
      ['FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=1;BYHOUR=2', 'Europe/Berlin', '2027-07-01T00:00:00Z'],
      ['FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYHOUR=2', 'Europe/Berlin', '2027-01-01T01:00:00Z'],
    ]) {
      const { body } = await create({ schedule, timezone, start_date });
      expect(body, JSON.stringify(body)).toMatchObject({ schedule, timezone, next_run_time: next });
    }
  });

  it('is changed alone, and with the schedule', async () => {
    const schedule = 'FREQ=WEEKLY;BYDAY=MO;BYHOUR=2;BYMINUTE=0';
    const { body } = await create({ schedule, start_date: '2026-11-20T00:00:00Z' });
    expect(body.next_run_time).toBe('2026-11-23T02:00:00Z');
    await t.world.db.query('delete from outbox');
    const moved = await change(body.id, { timezone: 'Europe/Berlin' });
    expect(moved.body).toMatchObject({ timezone: 'Europe/Berlin', schedule, next_run_time: '2026-11-23T01:00:00Z' });
    expect(await t.world.db.query('select key from outbox')).toEqual([{ key: `usg/${body.id}` }]);
    const [event] = await t.world.db.query('select message from event order by id desc limit 1');
    expect(event!['message']).toMatch(/^Changed the time zone of the USG profile/);
    for (const patch of [{ timezone: null }, { title: 'Renamed' }]) {
      expect((await change(body.id, patch)).body.timezone).toBe('Europe/Berlin');
    }
    const both = await change(body.id, { timezone: 'Asia/Tokyo', schedule: `${schedule};INTERVAL=2` });
    expect(both.body).toMatchObject({ timezone: 'Asia/Tokyo', next_run_time: '2026-11-29T17:00:00Z' });
    expect((await t.call('GET', `/usg-profiles/${body.id}`)).body).toEqual(both.body);
  });

  it('must be one, and leave the schedule a date', async () => {
    const { body } = await create({
      start_date: '2027-01-31T23:30:00Z',
      schedule: 'FREQ=MONTHLY;INTERVAL=12;BYMONTH=1',
    });
    const before = await stored();
    for (const timezone of WRONG) {
      expect((await create({ timezone })).body, String(timezone)).toMatchObject(rejected);
      expect((await change(body.id, { timezone })).body, String(timezone)).toMatchObject(rejected);
    }
    expect(await stored()).toEqual(before);
    // The start is in February there: the start is all that is left, and then nothing.
    expect((await change(body.id, { timezone: 'Europe/Berlin' })).status).toBe(200);
    t.world.clock.advance(100 * DAY);
    await t.refresh();
    expect((await change(body.id, { timezone: 'UTC' })).body.next_run_time).toBe('2028-01-31T23:30:00Z');
    expect((await change(body.id, { timezone: 'Europe/Berlin' })).body).toMatchObject(rejected);
    expect((await t.call('GET', `/usg-profiles/${body.id}`)).body.timezone).toBe('UTC');
  });
});

describe('the time zone of a script profile', () => {
  const cron = (interval: string, over: object = {}) => ({
    trigger_type: 'recurring',
    start_after: t.now().toISOString(),
    interval,
    ...over,
  });
  const next = async (id: number): Promise<Date> => new Date((await t.read(id)).trigger.next_run);

  it('is UTC unless it is named, and shown whatever the trigger', async () => {
    const made = await t.create(cron('0 3 * * *'));
    expect(made.timezone).toBe('UTC');
    // The note that schedules of earlier releases have: those are as they should be.
    const { note } = (await t.kind.desiredSchedule(t.world.db, made.id, t.now()))!;
    const after = new Date(made.trigger.start_after).toISOString();
    expect(note).toBe(
      `Script by cron "0 3 * * *" in UTC, after ${after}; ${PUBLIC_URL}/api/v2/script-profiles/${made.id}`,
    );
    const event = { trigger_type: 'event', event_type: 'post_enrollment' };
    const other = await t.create(event, { title: 'Other', timezone: 'Asia/Tokyo' });
    expect(other.timezone).toBe('Asia/Tokyo');
    expect(await t.read(other.id)).toEqual(other);
  });

  it('describes on which days and at which hours cron text has its dates', async () => {
    const { id } = await t.create(cron('30 0 * * mon'), { timezone: 'Asia/Tokyo' });
    const first = await next(id);
    // Sunday in UTC.
    expect([first.getUTCDay(), first.toISOString().slice(11, 16)]).toEqual([0, '15:30']);
    const { times, note } = (await t.kind.desiredSchedule(t.world.db, id, t.now()))!;
    expect(times).toMatchObject({ kind: 'dates' });
    expect(note).toContain('"30 0 * * mon" in Asia/Tokyo');
    if (times.kind !== 'dates') throw new Error('dates are expected');
    expect(times.dates).toHaveLength(26);
    expect(times.dates[0]).toEqual(first);
    expect(times.dates[1]).toEqual(new Date(first.getTime() + 7 * DAY));
  });

  it('is changed alone: what is waited for changes with it', async () => {
    const { id } = await t.create(cron('0 12 * * *'));
    await t.takeSyncCommands(id);
    const moved = (await t.call('PATCH', `/script-profiles/${id}`, { timezone: 'America/Lima' })).body;
    expect(moved).toMatchObject({ timezone: 'America/Lima', trigger: { interval: '0 12 * * *' } });
    expect(moved.trigger.next_run).toMatch(/T17:00:00Z$/);
    expect(await t.takeSyncCommands(id)).toBe(1);
    const [event] = await t.world.db.query('select message from event order by id desc limit 1');
    expect(event!['message']).toContain('the time zone');
    const kept = (await t.call('PATCH', `/script-profiles/${id}`, { timezone: null, trigger: cron('0 13 * * *') }))
      .body;
    expect(kept.timezone).toBe('America/Lima');
    expect(kept.trigger.next_run).toMatch(/T18:00:00Z$/);
    const back = (await t.call('PATCH', `/script-profiles/${id}`, { timezone: 'UTC' })).body;
    expect(back.trigger.next_run).toMatch(/T13:00:00Z$/);
    expect((await t.kind.desiredSchedule(t.world.db, id, t.now()))!.times).toMatchObject({ kind: 'calendars' });
  });

  it('must be one', async () => {
    const { id } = await t.create(cron('0 12 * * *'));
    const before = await stored();
    for (const timezone of WRONG) {
      expect((await t.call('PATCH', `/script-profiles/${id}`, { timezone })).body).toMatchObject(rejected);
      const body = { title: 'New', script_id: 1, all_computers: true, tags: [], time_limit: 5, username: 'root' };
      const response = await t.call('POST', '/script-profiles', { ...body, trigger: cron('0 1 * * *'), timezone });
      expect(response.body).toMatchObject(rejected);
    }
    expect(await stored()).toEqual(before);
  });

  it('lets a profile run once on the days on which clocks are set, at the time that it shows', async () => {
    const timezone = 'Europe/Berlin';
    // 02:30 does not come on 28 March 2027, and comes twice on 31 October.
    for (const [from, dates] of [
      ['2027-03-27T00:00:00Z', ['2027-03-27T01:30:00Z', '2027-03-28T01:30:00Z', '2027-03-29T00:30:00Z']],
      ['2027-10-30T00:00:00Z', ['2027-10-30T00:30:00Z', '2027-10-31T00:30:00Z', '2027-11-01T01:30:00Z']],
    ] as const) {
      t.world.clock.advance(Date.parse(from) - t.now().getTime());
      await t.refresh();
      const { id } = await t.create(cron('30 2 * * *'), { title: `From ${from}`, timezone });
      for (const date of dates) {
        expect(text(await next(id))).toBe(date);
        t.world.clock.advance(Date.parse(date) - t.now().getTime() + 300);
        await t.refresh();
        // A limit of a day counts what clocks show.
        const daily = t.kindWith({ minIntervalMinutes: 24 * 60 });
        expect(await daily.startRun(id, new Date(date), t.now())).toMatchObject({ outcome: 'started' });
        const again = new Date(Date.parse(date) + 60 * MINUTE);
        expect(await t.kind.startRun(id, again, again)).toMatchObject({ outcome: 'not-planned' });
        await t.world.processEvents(true);
      }
      expect(await t.runs(id)).toHaveLength(3);
      expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([]);
    }
  });

  it('makes up for an outage with one run, by the last date that clocks have shown', async () => {
    const { id } = await t.create(cron('0 3 * * *'), { timezone: 'America/Santiago' });
    const first = await next(id);
    t.world.clock.advance(first.getTime() + 3 * DAY + 5 * MINUTE - t.now().getTime());
    await t.refresh();
    const last = new Date(first.getTime() + 3 * DAY);
    expect(await t.kind.datesDueBefore(t.now(), { profileId: id })).toEqual([{ profileId: id, scheduledTime: last }]);
    expect(await t.kind.startRun(id, first, t.now())).toMatchObject({ outcome: 'superseded' });
    expect(await t.kind.startRun(id, last, t.now())).toMatchObject({ outcome: 'started' });
    expect(await next(id)).toEqual(new Date(last.getTime() + DAY));
  });

  it('has its schedule filled up again when few of its dates are left', async () => {
    const { id } = await t.create(cron('0 * * * *'), { timezone: 'Asia/Kolkata' });
    await t.takeSyncCommands(id);
    const commands: number[] = [];
    for (let run = 0; run < 40; run += 1) {
      const date = await next(id);
      const ahead = await t.world.db.query('select planned_until from script_profile where id = $1', [id]);
      expect((ahead[0]!['planned_until'] as Date).getTime()).toBeGreaterThanOrEqual(date.getTime() + 12 * 60 * MINUTE);
      t.world.clock.advance(date.getTime() - t.now().getTime() + 100);
      if (run % 10 === 0) await t.refresh();
      await t.kind.startRun(id, date, t.now());
      commands.push(await t.takeSyncCommands(id));
      await t.world.processEvents(true);
    }
    expect(commands.filter((made) => made > 0)).toHaveLength(2);
    const { times } = (await t.kind.desiredSchedule(t.world.db, id, t.now()))!;
    expect(times.kind === 'dates' && times.dates).toHaveLength(26);
  });
});
