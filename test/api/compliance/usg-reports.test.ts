import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insist } from '../../support/http/app.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgReportRequests } from '../../support/compliance/usg.ts';

let world: FleetWorld;
const { call, create, run, requestReport, blob, produce, made, csv } = usgReportRequests(() => world);

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

describe('GET /usg-profiles/<id>/report', () => {
  it('starts an activity, and responds with the path once that has succeeded', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    const { status, body } = await requestReport(id, 'start_date=2026-05-04');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'GenerateUsgReportActivity',
      activity_status: 'in-progress',
      parent_id: null,
      result_text: null,
      completion_time: null,
    });
    const detail = async () => (await call('GET', `/activities/${body.id}`)).body;
    expect(await detail()).toMatchObject({
      activity_status: 'undelivered',
      progress: 0,
      children: [],
      actions: { cancelable: true, reappliable: false, revertable: false },
    });
    const path = `usg_profile_audit_report_ID${id}-20260504.csv`;
    expect((await blob(path)).status).toBe(200);
    expect((await requestReport(id, 'start_date=2026-05-04')).body.id).toBe(body.id);
    expect(await produce(body.id)).toBe('succeeded');
    expect(await detail()).toMatchObject({
      activity_status: 'succeeded',
      progress: 100,
      result_text: path,
      result_code: 0,
    });
    expect((await requestReport(id, 'start_date=2026-05-04')).body).toEqual({
      id: null,
      result_text: path,
      activity_status: 'succeeded',
      result_code: 0,
    });
  });

  it('reports each computer and run in the summary', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    await run(id, '2026-05-11T02:00:00Z', { computers: new Map([[world.ids['web']!, null]]) });
    const path = await made(id, 'start_date=2026-05-04&end_date=2026-05-11');
    expect(path).toBe(`usg_profile_audit_report_ID${id}-20260504-20260511.csv`);
    const { web, db } = world.ids;
    const { body } = await blob(path);
    expect(body.file_content).toBe(
      [
        'Instance ID,Instance Name,Passed Rules,Failed Rules,Pass Rate,Report Time',
        `${web},web,1,1,50,2026-05-04T02:00:00Z`,
        `${db},db,3,0,100,2026-05-04T02:00:00Z`,
        `${web},web,0,0,n/a,`,
        '',
      ].join('\r\n'),
    );
  });

  it('reports each computer and rule in a detailed report', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z', { computers: new Map([[world.ids['web']!, 'pfn']]) });
    const path = await made(id, 'start_date=2026-05-04&detailed=true');
    expect(path).toBe(`usg_profile_audit_report_ID${id}-20260504-detailed.csv`);
    const report = `usg_profile_audit_report_ID${id}-20260504`;
    const line = (rule: string, pass: string) => [
      String(world.ids['web']),
      report,
      rule,
      'high',
      'CCE-1; NIST AC-2',
      `Description of ${rule}`,
      `Rationale of ${rule}`,
      pass,
      '2026-05-04T02:00:00Z',
    ];
    expect(await csv(path)).toEqual([
      ...parse('Instance ID,Report,Rule ID,Severity,Identifiers and References,Description,Rationale,Pass,Report Time'),
      line('rule_1', 'true'),
      line('rule_2', 'false'),
      line('rule_3', 'n/a'),
    ]);
  });

  it.each([
    ['start_date=2026-05-04', ['02:10:30', '02:10:59', '03:00:00'], '20260504'],
    ['start_date=2026-05-04T02:10', ['02:10:30', '02:10:59'], '20260504T0210Z'],
    ['start_date=2026-05-04T02:10:59Z', ['02:10:59'], '20260504T021059Z'],
    ['start_date=2026-05-04T04:10:59.75%2B02:00', ['02:10:59'], '20260504T021059Z'],
    [
      'start_date=2026-05-04T02:10:59Z&end_date=2026-05-04',
      ['02:10:59', '03:00:00'],
      '20260504T021059Z-20260504T235959Z',
    ],
    [
      'start_date=2026-05-04&end_date=2026-05-04T02:10:59Z',
      ['02:10:30', '02:10:59'],
      '20260504T000000Z-20260504T021059Z',
    ],
    [
      'start_date=2026-05-04T02:00&end_date=2026-05-04T03:00',
      ['02:10:30', '02:10:59', '03:00:00'],
      '20260504-20260504',
    ],
    ['start_date=2026-05-04T05:00&end_date=2026-05-04T06:00', [], '20260504T050000Z-20260504T060000Z'],
    ['start_date=2026-06-01', [], '20260601'],
  ])('takes the runs that %s names', async (query, times, label) => {
    const id = await create();
    for (const time of ['02:10:30', '02:10:59', '03:00:00']) {
      await run(id, `2026-05-04T${time}.250Z`, { computers: new Map([[world.ids['web']!, 'ppp']]) });
    }
    const path = await made(id, query);
    expect(path).toBe(`usg_profile_audit_report_ID${id}-${label}.csv`);
    const found = (await csv(path)).slice(1).map((record) => record.at(-1)!.slice(11, 19));
    expect(found).toEqual(times);
  });

  it('gives each run a path of its own, which can be read before anybody requested the report', async () => {
    const id = await create();
    const pathOf = (label: string) => `usg_profile_audit_report_ID${id}-${label}.csv`;
    await run(id, '2026-05-04T02:10:30.250Z', { computers: new Map([[world.ids['web']!, 'ppp']]) });
    expect(await made(id, 'start_date=2026-05-04T02:10:30Z')).toBe(pathOf('20260504T021030Z'));
    await run(id, '2026-05-04T03:00:00.250Z', { computers: new Map([[world.ids['web']!, 'fff']]) });
    const times = async (label: string) =>
      (await csv(pathOf(label))).slice(1).map((record) => record.at(-1)!.slice(11, 19));
    expect(await times('20260504T021030Z')).toEqual(['02:10:30']);
    expect(await times('20260504T030000Z')).toEqual(['03:00:00']);
    expect(await times('20260504')).toEqual(['02:10:30', '03:00:00']);
    const absent = await world.app.call('GET', `/usg-profiles/blob?path=${pathOf('20260504T021031Z')}`, {
      token: world.tokens.admin,
    });
    expect(absent.status).toBe(404);
  });

  it.each([
    ['', 'query.start_date'],
    ['start_date=', 'query.start_date'],
    ['start_date=yesterday', 'query.start_date'],
    ['start_date=2026-02-30', 'query.start_date'],
    ['start_date=2026-05-04T02:00:00Z%00', 'query.start_date'],
    ['start_date=2026-05-04&start_date=2026-05-05', 'query.start_date'],
    ['start_date=2026-05-04&end_date=later', 'query.end_date'],
    ['start_date=2026-05-04&end_date=2026-05-03', 'query.end_date'],
    ['start_date=2026-05-04T02:00:01Z&end_date=2026-05-04T02:00:00Z', 'query.end_date'],
    ['start_date=2026-05-04&detailed=perhaps', 'query.detailed'],
  ])('rejects %j and starts nothing', async (query, path) => {
    const id = await create();
    const response = await requestReport(id, query);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: 'InvalidParameter', details: [{ path }] });
    expect(await world.db.query('select 1 from usg_report where profile_id = $1', [id])).toEqual([]);
  });

  it('returns one activity to fifty requests at once', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => insist(() => requestReport(id, 'start_date=2026-05-04'))),
    );
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
    const commands = await world.db.query(`select 1 from outbox where kind = 'start' and key = $1`, [
      String(responses[0]!.body.id),
    ]);
    expect(commands).toHaveLength(1);
    const other = await requestReport(id, 'start_date=2026-05-04&detailed=1');
    expect(other.body.id).not.toBe(responses[0]!.body.id);
  });

  it('makes a report anew once a run in its range has changed, and only then', async () => {
    const id = await create();
    const changed = await run(id, '2026-05-04T02:00:00Z');
    const path = await made(id, 'start_date=2026-05-04');
    await run(id, '2026-05-05T02:00:00Z');
    expect((await requestReport(id, 'start_date=2026-05-04')).body.id).toBeNull();
    await world.db.query('update usg_run set failing_count = failing_count + 1 where id = $1', [changed]);
    await world.db.query('update usg_audit set failed_count = 7 where run_id = $1', [changed]);
    const { body } = await requestReport(id, 'start_date=2026-05-04');
    expect(body.activity_status).toBe('in-progress');
    expect((await csv(path))[1]![3]).toBe('7');
    expect(await produce(body.id)).toBe('succeeded');
    expect((await csv(path))[1]![3]).toBe('7');
    await run(id, '2026-05-04T09:00:00Z');
    expect((await requestReport(id, 'start_date=2026-05-04')).body.id).toEqual(expect.any(Number));
  });

  it('ends with no file when it is canceled, and can be requested again', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    const { body } = await requestReport(id, 'start_date=2026-05-04&detailed=true');
    const cancel = await world.app.call('POST', '/activities/cancel', {
      token: world.tokens.admin,
      body: { activity_ids: [body.id] },
    });
    expect(cancel.status).toBe(200);
    expect((await call('GET', `/activities/${body.id}`)).body).toMatchObject({ activity_status: 'canceled' });
    expect(await produce(body.id)).toBe('canceled');
    expect((await blob(`usg_profile_audit_report_ID${id}-20260504-detailed.csv`)).status).toBe(404);
    const again = await requestReport(id, 'start_date=2026-05-04&detailed=true');
    expect(again.body.id).not.toBe(body.id);
    expect(await produce(again.body.id)).toBe('succeeded');
  });

  it('ends once with one file, however often it is made', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    const { body } = await requestReport(id, 'start_date=2026-05-04');
    expect(await Promise.all([produce(body.id), produce(body.id), produce(body.id)])).toEqual(
      Array(3).fill('succeeded'),
    );
    const files = await world.db.query('select key from stored_file where profile_id = $1', [id]);
    expect(files).toEqual([{ key: `usg_profile_audit_report_ID${id}-20260504.csv` }]);
  });

  it('leaves one event for each report that is made', async () => {
    const id = await create();
    await requestReport(id, 'start_date=2026-05-04');
    await requestReport(id, 'start_date=2026-05-04');
    const events = await world.db.query(
      `select person_id from event where entity_id = $1 and message like 'Requested the report%'`,
      [id],
    );
    expect(events).toEqual([{ person_id: world.adminId }]);
  });
});

describe('last_run_results.report_uri', () => {
  it('names the summary of the last run, which can be read before anybody requested it', async () => {
    const id = await create();
    const uri = async () => (await call('GET', `/usg-profiles/${id}`)).body.last_run_results.report_uri;
    expect(await uri()).toBeNull();
    await run(id, '2026-05-04T02:00:00Z');
    const path = await uri();
    expect(path).toBe(`usg_profile_audit_report_ID${id}-20260504.csv`);
    expect(await csv(path)).toHaveLength(3);
    expect((await requestReport(id, 'start_date=2026-05-04')).body).toMatchObject({ id: null, result_text: path });
    await run(id, '2026-05-04T09:00:00Z');
    const responses = await Promise.all(Array.from({ length: 20 }, () => insist(() => blob(path))));
    for (const { body } of responses) expect(body.file_content.split('\r\n')).toHaveLength(6);
  });

  it('reports every run of its day, also where it was read between them and another day followed', async () => {
    const id = await create();
    await run(id, '2026-05-04T02:00:00Z');
    const path = `usg_profile_audit_report_ID${id}-20260504.csv`;
    expect(await csv(path)).toHaveLength(3);
    await run(id, '2026-05-04T15:00:00Z');
    await run(id, '2026-05-05T09:00:00Z');
    expect(await csv(path)).toHaveLength(5);
  });

  it('reports every run that has ended, also while another one of the day has not', async () => {
    const id = await create();
    const first = await run(id, '2026-05-04T02:00:00Z');
    await world.db.query('update usg_run set in_progress_count = 1 where id = $1', [first]);
    await run(id, '2026-05-04T09:00:00Z');
    const path = `usg_profile_audit_report_ID${id}-20260504.csv`;
    expect(await csv(path)).toHaveLength(5);
    await run(id, '2026-05-04T15:00:00Z');
    expect(await csv(path)).toHaveLength(7);
  });

  it('stays readable when nobody has read it before the next run', async () => {
    const id = await create();
    const uri = async () => (await call('GET', `/usg-profiles/${id}`)).body.last_run_results.report_uri;
    await run(id, '2026-05-04T02:00:00Z');
    const first = await uri();
    const next = await run(id, '2026-05-11T02:00:00Z');
    expect(await csv(first)).toHaveLength(3);
    const second = await uri();
    expect(second).not.toBe(first);

    const later = await run(id, '2026-05-11T09:00:00Z');
    const setOpen = (ids: number[], open: number) =>
      world.db.query('update usg_run set in_progress_count = $2 where id = any($1::int[])', [ids, open]);
    await setOpen([later], 1);
    expect(await uri()).toBe('in-progress');
    expect(await csv(second)).toHaveLength(5);
    await setOpen([next, later], 1);
    expect((await blob(second.replace('20260511', '20260512'))).status).toBe(404);
    await setOpen([next, later], 0);
    expect(await csv(second)).toHaveLength(5);
  });
});
