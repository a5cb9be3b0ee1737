import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertComputer } from '../../support/computers/computers.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { usgProfile } from '../../support/compliance/usg.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const call = (method: string, path: string, body?: unknown, token = world.tokens.admin) =>
  world.app.call(method, path, { token, ...(body === undefined ? {} : { body }) });
const create = (over: object = {}, token?: string) => call('POST', '/usg-profiles', usgProfile(over), token);
const stored = async () =>
  (
    await world.db.query(
      `select (select count(*) from usg_profile) as profiles, (select count(*) from stored_file) as files,
         (select count(*) from usg_run) as runs, (select count(*) from outbox) as commands,
         (select count(*) from event where entity_type = 'UsgProfile') as events`,
    )
  )[0];

describe('POST /usg-profiles', () => {
  it('responds with the profile', async () => {
    const { status, body } = await create({ title: 'Baseline of 2026!', tags: ['web', 'db'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: body.id,
      account_id: world.accountId,
      name: 'baseline-of-2026',
      title: 'Baseline of 2026!',
      access_group: 'global',
      all_computers: true,
      tags: ['web', 'db'],
      associated_instances: 3,
      benchmark: 'cis_level1_server',
      mode: 'audit',
      schedule: 'FREQ=WEEKLY;BYDAY=MO',
      status: 'active',
      creation_time: '2026-11-21T12:00:00Z',
      modification_time: '2026-11-21T12:00:00Z',
      next_run_time: '2026-12-01T02:00:00Z',
      restart_deliver_delay: 0,
      restart_deliver_delay_window: 0,
      retention_period: -1,
      timezone: 'UTC',
      tailoring_file_uri: null,
      last_run_results: {
        failing: 0,
        passing: 0,
        in_progress: 0,
        not_started: 3,
        pass_rate: null,
        report_uri: null,
        timestamp: null,
      },
    });
    const commands = await world.db.query(`select kind from outbox where key = $1`, [`usg/${body.id}`]);
    expect(commands).toEqual([{ kind: 'schedule_sync' }]);
    expect((await call('GET', `/usg-profiles/${body.id}`)).body).toEqual(body);
  });

  it('makes names that stay unique of titles that need not be', async () => {
    const names = [];
    for (let n = 0; n < 3; n += 1) names.push((await create({ title: 'Twice & thrice' })).body.name);
    expect(names).toEqual(['twice-thrice', 'twice-thrice-2', 'twice-thrice-3']);
  });

  it.each([
    ['audit-fix', 'fix-audit'],
    ['audit-fix-restart', 'fix-restart-audit'],
  ])('takes the older mode %s for %s', async (given, mode) => {
    expect((await create({ mode: given })).body.mode).toBe(mode);
  });

  it.each(['2026-11-21T12:00:00Z', '2020-02-02', '2026-11-21T13:00:00+01:00'])(
    'runs at once when it starts at %s, and then by its rule',
    async (start) => {
      const { body } = await create({ start_date: start, schedule: 'RRULE:FREQ=WEEKLY;INTERVAL=1' });
      expect(body.schedule).toBe('RRULE:FREQ=WEEKLY;INTERVAL=1');
      expect(body.last_run_results).toMatchObject({
        timestamp: '2026-11-21T12:00:00Z',
        report_uri: 'in-progress',
        not_started: 3,
      });
      expect(Date.parse(body.next_run_time)).toBeGreaterThan(Date.parse('2026-11-21T12:00:00Z'));
      const runs = await world.db.query(
        'select a.type, a.children_count from usg_run r join activity a on a.id = r.activity_id where profile_id = $1',
        [body.id],
      );
      expect(runs).toEqual([{ type: 'UsgActivity', children_count: 3 }]);
    },
  );

  it('has no date left after a single one that is past', async () => {
    const { body } = await create({ start_date: '1969-11-01', schedule: 'FREQ=WEEKLY;COUNT=1' });
    expect(body).toMatchObject({ next_run_time: null, status: 'active' });
  });

  it.each([
    [{ title: ' ' }, 'body.title'],
    [{ title: 'two\nlines' }, 'body.title'],
    [{ title: 'x'.repeat(256) }, 'body.title'],
    [{ benchmark: undefined }, 'body.benchmark'],
    [{ benchmark: 'cis_level9' }, 'body.benchmark'],
    [{ mode: 'destroy' }, 'body.mode'],
    [{ start_date: 'tomorrow' }, 'body.start_date'],
    [{ start_date: '2026-02-30' }, 'body.start_date'],
    [{ start_date: '2200-01-01' }, 'body.start_date'],
    [{ tags: ['a b'] }, 'body.tags.0'],
    [{ restart_deliver_delay: 721 }, 'body.restart_deliver_delay'],
    [{ restart_deliver_delay: -1 }, 'body.restart_deliver_delay'],
    [{ restart_deliver_delay_window: 1441 }, 'body.restart_deliver_delay_window'],
    [{ all_computers: 'some' }, 'body.all_computers'],
  ])('rejects %j and stores nothing', async (over, path) => {
    const before = await stored();
    const { body } = await create(over);
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400, details: [{ path }] });
    expect(await stored()).toEqual(before);
  });

  it('needs the right in the access group', async () => {
    expect((await create({ access_group: 'nowhere' })).body).toMatchObject({ error: 'UnknownAccessGroup', code: 400 });
    expect((await create({}, world.tokens.servers)).body.error).toBe('Forbidden');
    expect((await create({ access_group: 'desktops' }, world.tokens.servers)).body.error).toBe('Forbidden');
    expect((await create({ access_group: 'servers' }, world.tokens.servers)).body).toMatchObject({
      access_group: 'servers',
      associated_instances: 2,
    });
  });
});

describe('PATCH /usg-profiles/<id>', () => {
  it('changes what it names, keeps the rest, and leaves an event', async () => {
    const { body: profile } = await create();
    const change = {
      title: 'Weekly baseline',
      tags: ['web'],
      all_computers: false,
      schedule: 'FREQ=MONTHLY;BYMONTHDAY=-1',
      restart_deliver_delay: 3,
      restart_deliver_delay_window: null,
    };
    world.clock.advance(60_000);
    const { status, body } = await call('PATCH', `/usg-profiles/${profile.id}`, change);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...profile,
      ...change,
      restart_deliver_delay_window: 0,
      associated_instances: 0,
      modification_time: '2026-11-21T12:01:00Z',
      last_run_results: { ...profile.last_run_results, not_started: 0 },
    });
    const [event] = await world.db.query(
      `select message from event where entity_type = 'UsgProfile' and entity_id = $1 order by id desc limit 1`,
      [profile.id],
    );
    expect(event!['message']).toBe(
      'Changed the title, the schedule, the choice of computers, the tags, the delay of restarts of the USG profile Monthly baseline',
    );
  });

  it.each([
    { mode: 'audit' },
    { benchmark: 'disa_stig' },
    { access_group: 'servers' },
    { start_date: '2030-01-01' },
    { tailoring_file: '<Tailoring/>' },
  ])('rejects %j', async (change) => {
    const { body: profile } = await create();
    const { body } = await call('PATCH', `/usg-profiles/${profile.id}`, { title: 'Other', ...change });
    expect(body).toMatchObject({ error: 'InvalidParameter', code: 400 });
    expect((await call('GET', `/usg-profiles/${profile.id}`)).body).toEqual(profile);
  });

  it('anchors a new rule at the start date', async () => {
    const { body: profile } = await create({ start_date: '2026-11-03T02:00:00Z' });
    const { body } = await call('PATCH', `/usg-profiles/${profile.id}`, { schedule: 'FREQ=WEEKLY;INTERVAL=3' });
    expect(body.next_run_time).toBe('2026-11-24T02:00:00Z');
  });
});

describe('POST /usg-profiles/<id>:archive', () => {
  it('ends a profile for good, with the same response again', async () => {
    const { body: profile } = await create();
    const { status, body } = await call('POST', `/usg-profiles/${profile.id}:archive`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'archived', next_run_time: null });
    const before = await stored();
    world.clock.advance(1000);
    expect((await call('POST', `/usg-profiles/${profile.id}%3Aarchive`)).body).toEqual(body);
    expect(await stored()).toEqual(before);
    const rejected = { error: 'ProfileArchived', code: 400 };
    expect((await call('PATCH', `/usg-profiles/${profile.id}`, { title: 'x' })).body).toMatchObject(rejected);
    expect((await call('POST', `/usg-profiles/${profile.id}:execute`)).body).toMatchObject(rejected);
  });
});

describe('POST /usg-profiles/<id>:execute', () => {
  it('starts a run beside the schedule', async () => {
    const { body: profile } = await create({ title: 'Now', tags: ['now'], all_computers: false });
    const computerId = await insertComputer(world.db, { accountId: world.accountId, title: 'now-1', tags: ['now'] });
    const { status, body } = await call('POST', `/usg-profiles/${profile.id}:execute`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'UsgActivity',
      summary: 'USG audit: Now',
      activity_status: 'in-progress',
      creator: { id: world.adminId },
    });
    const detail = (await call('GET', `/activities/${body.id}`)).body;
    expect(detail).toMatchObject({ activity_status: 'undelivered', children: [{ type: 'UsgActivity' }] });
    const [child] = await world.db.query(
      `select k.computer_id, p.message_type, p.fields from activity k join operation_payload p on p.id = k.payload_id
       where parent_id = $1`,
      [body.id],
    );
    expect(child).toMatchObject({
      computer_id: computerId,
      message_type: 'usg',
      fields: { action: 'audit', profile: 'cis_level1_server', 'run-id': expect.stringMatching(/^\d+$/) },
    });
    const again = await call('POST', `/usg-profiles/${profile.id}:execute`);
    expect(again.body).toMatchObject({ error: 'ActivityInProgress', code: 409 });
    const other = await insertComputer(world.db, { accountId: world.accountId, title: 'now-2', tags: ['now'] });
    const free = await call('POST', `/usg-profiles/${profile.id}:execute`);
    const computers = await world.db.query('select computer_id from activity where parent_id = $1', [free.body.id]);
    expect(computers).toEqual([{ computer_id: other }]);
    await world.db.query('update computer set archived = true where id = any($1)', [[computerId, other]]);
  });

  it('succeeds at once without computers', async () => {
    const { body: profile } = await create({ all_computers: false });
    const { body } = await call('POST', `/usg-profiles/${profile.id}:execute`);
    expect(body).toMatchObject({ activity_status: 'succeeded', completion_time: expect.any(String) });
    expect((await call('GET', `/activities/${body.id}`)).body).toMatchObject({
      activity_status: 'succeeded',
      children: [],
      type: 'UsgActivity',
    });
  });

  it('chains fix, restart and audit', async () => {
    const { body: profile } = await create({
      mode: 'fix-restart-audit',
      restart_deliver_delay: 2,
      restart_deliver_delay_window: 30,
      access_group: 'servers',
    });
    const { body } = await call('POST', `/usg-profiles/${profile.id}:execute`);
    const steps = await world.db.query(
      `select k.type, k.status, k.delay_seconds, p.fields->>'action' as action from activity k
       join operation_payload p on p.id = k.payload_id where k.parent_id = $1 and k.computer_id = $2 order by k.id`,
      [body.id, world.ids['web']],
    );
    expect(steps).toMatchObject([
      { type: 'UsgActivity', status: 'undelivered', action: 'fix' },
      { type: 'RestartRequest', status: 'waiting' },
      { type: 'UsgActivity', status: 'waiting', action: 'audit' },
    ]);
    const delay = steps[1]!['delay_seconds'] as number;
    expect(delay).toBeGreaterThanOrEqual(7200);
    expect(delay).toBeLessThanOrEqual(7200 + 1800);
  });
});
