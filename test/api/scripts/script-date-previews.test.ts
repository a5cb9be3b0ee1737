import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  event,
  HOUR,
  hourly,
  LIMITS,
  MINUTE,
  once,
  onceAt,
  recurring,
  text,
  TriggerWorld,
} from '../../support/scripts/scripts.ts';

let t: TriggerWorld;

beforeAll(async () => {
  t = await TriggerWorld.create();
});
afterAll(() => t?.close());
beforeEach(() => t.next());

const saved = async (id: number) => (await t.call('GET', `/script-profiles/${id}/upcoming-dates?limit=12`)).body;

const preview = (of: string, body: object, limit?: number) => t.previewDates('script', of, body, limit);

describe('POST /script-profiles:preview-dates', () => {
  it.each([
    ['every hour', hourly(), 'UTC', 12],
    ['from a start on', recurring('0 * * * *', '2027-03-01T10:00:00Z'), 'UTC', 12],
    ['in a night in which clocks skip its time', recurring('30 2 * * *', '2027-03-26T00:00:00Z'), 'Europe/Berlin', 12],
    ['in a night in which its time comes twice', recurring('30 2 * * *', '2027-10-29T00:00:00Z'), 'Europe/Berlin', 12],
    ['on days that are rare', recurring('0 0 29 2 *'), 'Asia/Tokyo', 12],
    ['until the year 2100', recurring('0 0 1 1 *', '2098-06-01T00:00:00Z'), 'UTC', 1],
    ['once', once('2027-05-04T02:00:00Z'), 'America/New_York', 1],
    ['once, in the past', once('2026-05-04T02:00:00Z'), 'UTC', 0],
    ['for new computers', event, 'UTC', 0],
  ])('shows what the profile then has: %s', async (_, trigger, timezone, count) => {
    const { status, body } = await preview('', { trigger, timezone });
    expect([status, body.timezone, body.dates.length]).toEqual([200, timezone, count]);
    expect(await saved((await t.create(trigger, { timezone })).id)).toEqual(body);
  });

  it('is in UTC and has five dates unless it is requested otherwise', async () => {
    const { body } = await t.call('POST', '/script-profiles:preview-dates', { trigger: hourly() });
    const dates = [0, 1, 2, 3, 4].map((hours) => text(new Date(t.nextHour().getTime() + hours * HOUR)));
    expect(body).toEqual({ timezone: 'UTC', dates });
    expect((await preview('', { trigger: hourly(), timezone: null }, 2)).body.dates).toEqual(dates.slice(0, 2));
    expect((await preview('', { trigger: hourly() }, 13)).body).toMatchObject({ error: 'InvalidParameter' });
  });

  it.each([
    ['body.trigger', {}],
    ['body.trigger', { trigger: {} }],
    ['body.trigger.interval', { trigger: recurring('61 * * * *') }],
    ['body.trigger.interval', { trigger: recurring('0 0 31 2 *') }],
    ['body.trigger.start_after', { trigger: recurring('0 * * * *', 'tomorrow') }],
    ['body.trigger.timestamp', { trigger: once('2027-02-30T00:00:00Z') }],
    ['body.trigger.interval', { trigger: { ...once('2027-02-03T00:00:00Z'), interval: '0 * * * *' } }],
    ['body.timezone', { trigger: hourly(), timezone: 'Europe/Nowhere' }],
    ['body.title', { trigger: hourly(), title: 'Nightly' }],
  ])('rejects what creating rejects, at %s', async (path, body) => {
    const response = (await preview('', body)).body;
    expect(response).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect(response.details[0].path).toMatch(new RegExp(`^${path}`));
  });

  it('rejects runs that are too close', async () => {
    expect((await preview('', { trigger: recurring('* * * * *') })).body).toMatchObject({
      error: 'IntervalTooShort',
      details: [{ path: 'body.trigger.interval' }],
    });
  });
});

describe('POST /script-profiles/<id>:preview-dates', () => {
  /** Compares the preview of a change with the profile after it. */
  async function expectSame(id: number, patch: object) {
    const { status, body } = await preview(`/${id}`, patch);
    expect(status, JSON.stringify(body)).toBe(200);
    expect((await t.call('PATCH', `/script-profiles/${id}`, patch)).status).toBe(200);
    expect(await saved(id)).toEqual(body);
    return body.dates as string[];
  }

  it.each([
    ['other cron fields', { trigger: { trigger_type: 'recurring', interval: '15 4 * * mon' } }],
    ['another time zone', { timezone: 'Asia/Kolkata' }],
    ['both', { timezone: 'America/New_York', trigger: recurring('30 2 * * *', '2027-03-12T00:00:00Z') }],
    ['once', { trigger: once('2027-05-04T02:00:00Z') }],
    ['once, in the past', { trigger: once('2026-05-04T02:00:00Z') }],
    ['for new computers', { trigger: event }],
    ['nothing', {}],
    ['null', { timezone: null, trigger: null }],
  ])('shows what the profile has after the change: %s', async (_, patch) => {
    await expectSame((await t.create(recurring('0 2 * * *'), { timezone: 'Europe/Berlin' })).id, patch);
  });

  it('keeps a distance from the last run, as the change does', async () => {
    const first = t.nextHour();
    const { id } = await t.create(hourly());
    t.world.clock.advance(first.getTime() - t.now().getTime());
    expect(await t.kind.startRun(id, first, t.now())).toMatchObject({ outcome: 'started' });
    await t.world.processEvents(true);
    const soon = Math.floor(LIMITS.minIntervalMinutes / 2);
    const [next] = await expectSame(id, { trigger: { trigger_type: 'recurring', interval: `${soon} * * * *` } });
    expect(next).toBe(text(new Date(first.getTime() + HOUR + soon * MINUTE)));
  });

  it('has no date of a one-time profile that has run, until it has another time', async () => {
    const at = t.inMs(-HOUR);
    const { id } = await t.create(onceAt(at));
    expect(await expectSame(id, { trigger: onceAt(at) })).toEqual([]);
    const later = t.inMs(HOUR);
    expect(await expectSame(id, { trigger: onceAt(later) })).toEqual([text(later)]);
  });

  it('rejects what the change rejects', async () => {
    const { id } = await t.create(hourly());
    for (const [path, patch] of [
      ['body.trigger', { trigger: {} }],
      ['body.trigger.interval', { trigger: { trigger_type: 'recurring', interval: 'hourly' } }],
      ['body.trigger.timestamp', { trigger: { trigger_type: 'one_time' } }],
      ['body.timezone', { timezone: 'Nowhere' }],
    ] as const) {
      const { body } = await preview(`/${id}`, patch);
      expect(body).toMatchObject({ error: 'InvalidParameter', details: [{ path }] });
    }
    const close = { trigger: { trigger_type: 'recurring', interval: '* * * * *' } };
    expect((await preview(`/${id}`, close)).body.error).toBe('IntervalTooShort');
    expect((await preview('/999999', {})).body.error).toBe('UnknownScriptProfile');
    await t.call('POST', `/script-profiles/${id}:archive`);
    expect((await preview(`/${id}`, {})).body).toMatchObject({ error: 'ProfileArchived', code: 400 });
  });
});
