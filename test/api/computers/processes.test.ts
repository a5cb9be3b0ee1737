import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addEvent } from '../../support/activities/activity-rows.ts';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
  await world.db.query(
    `insert into computer_process (computer_id, pid, name, state, uid, gid, start_time, vm_size, cpu_utilisation)
     values ($1, 812, 'nginx', 'S', 33, 33, 1779000000, 22412, 0.5), ($1, 1, 'systemd', 'S', 0, 0, 1778000000, null, null),
       ($2, 4711, 'secret', 'S', 0, 0, 1779000000, null, null)`,
    [world.ids['web'], world.ids['foreign']],
  );
});
afterAll(() => world?.close());

const signal = (body: unknown, name = 'kill', token = world.tokens.admin) =>
  world.app.call('POST', `/processes/${name}`, { token, body });
const about = (pids: unknown, computer = 'web') => ({ computer_id: world.ids[computer], pids });

const children = (group: number) =>
  world.db.query(
    `select a.type, a.status, a.summary, a.delivery_time, a.result_text, m.state as message, p.message_type, p.fields
     from activity a join operation_payload p on p.id = a.payload_id left join agent_message m on m.activity_id = a.id
     where a.parent_id = $1 order by a.id`,
    [group],
  );

describe('GET /computers/<id>/processes', () => {
  it('pages what the computer reported, in order of process ids', async () => {
    const path = `/computers/${world.ids['web']}/processes`;
    const { body } = await world.app.call('GET', `${path}?limit=1&offset=1`, { token: world.tokens.auditor });
    expect(body).toMatchObject({ count: 2, next: null, previous: expect.stringContaining('offset=0') });
    expect(body.results).toEqual([
      {
        id: 812,
        computer_id: world.ids['web'],
        pid: 812,
        gid: 33,
        name: 'nginx',
        state: 'S',
        start_time: '2026-05-17T06:40:00Z',
        vm_size: 22412,
        cpu_utilisation: 0.5,
      },
    ]);
  });

  it('survives a start time of no calendar', async () => {
    await world.db.query(
      `insert into computer_process (computer_id, pid, name, state, start_time)
       values ($1, 1, 'a', 'S', 1099511627776), ($1, 2, 'b', 'S', -5)`,
      [world.ids['desk']],
    );
    const { body } = await world.app.call('GET', `/computers/${world.ids['desk']}/processes`, {
      token: world.tokens.admin,
    });
    expect(body.results.map((process: { start_time: string }) => process.start_time)).toEqual([
      '9999-12-31T23:59:59Z',
      '1970-01-01T00:00:00Z',
    ]);
  });
});

describe('POST /processes/kill and /terminate', () => {
  it.each([
    ['kill', 'KILL'],
    ['terminate', 'TERM'],
  ])('sends %s to a reported process', async (name, label) => {
    const { status, body } = await signal(about([812]), name);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      type: 'ActivityGroup',
      summary: `Signal process nginx (PID 812) with ${label}`,
      activity_status: 'undelivered',
    });
    expect(await children(body.id)).toMatchObject([
      {
        type: 'SignalProcessRequest',
        summary: `Signal process nginx (PID 812) with ${label}`,
        message_type: 'signal-process',
        fields: { pid: 812, name: 'nginx', 'start-time': 1779000000, signal: label },
      },
    ]);
  });

  it('fails what was never reported here, unsent, and sends the rest', async () => {
    const { body } = await signal(about('812, 4711 ,812'));
    expect(body.summary).toBe('Signal 2 processes with KILL');
    await world.processEvents();
    expect(await children(body.id)).toMatchObject([
      { status: 'undelivered', message: 'queued' },
      {
        status: 'failed',
        message: null,
        delivery_time: null,
        summary: 'Signal process (PID 4711) with KILL',
        result_text: 'The computer has reported no process with the number 4711.',
      },
    ]);
  });

  it('fails it again, unsent, when the signals are repeated, also once it is reported', async () => {
    const { admin } = world.tokens;
    const { body: old } = await signal(about([4711, 812, 4712]));
    await world.processEvents();
    const sent = await world.db.query<{ id: number; lane_id: number }>(
      `select id, lane_id from activity where parent_id = $1 and status = 'undelivered'`,
      [old.id],
    );
    const at = world.clock.now();
    for (const { id, lane_id } of sent) {
      await addEvent(world.db, { batch: lane_id, activity: id, kind: 'result', ok: true, at });
    }
    await world.processEvents();
    await world.db.query(
      `insert into computer_process (computer_id, pid, name, state, start_time) values ($1, 4712, 'late', 'S', 1)`,
      [world.ids['web']],
    );
    const { status, body } = await world.app.call('POST', '/activities/reapply', {
      token: admin,
      body: { activity_ids: [old.id] },
    });
    expect(status).toBe(200);
    await world.processEvents();
    const unsent = { status: 'failed', message: null, delivery_time: null };
    expect(await children(body[0])).toMatchObject([
      { ...unsent, result_text: 'The computer has reported no process with the number 4711.' },
      { status: 'undelivered', message: 'queued' },
      { ...unsent, result_text: 'The computer has reported no process with the number 4712.' },
    ]);
    await world.db.query('delete from computer_process where computer_id = $1 and pid = 4712', [world.ids['web']]);
  });

  it('repeats one of several signals as what it is alone', async () => {
    const { body: old } = await signal(about([812, 1]));
    await world.processEvents();
    const ended = await world.db.query<{ id: number; lane_id: number }>(
      'select id, lane_id from activity where parent_id = $1 order by id',
      [old.id],
    );
    for (const { id, lane_id } of ended) {
      await addEvent(world.db, { batch: lane_id, activity: id, kind: 'result', ok: true, at: world.clock.now() });
    }
    await world.processEvents();
    const { body } = await world.app.call('POST', '/activities/reapply', {
      token: world.tokens.admin,
      body: { activity_ids: [ended[0]!.id, old.id] },
    });
    const rows = await world.db.query('select summary, parameters from activity where id = any($1) order by id', [
      body,
    ]);
    expect(rows).toEqual([
      { summary: 'Signal process nginx (PID 812) with KILL', parameters: {} },
      {
        summary: 'Signal 2 processes with KILL',
        parameters: { operation: 'processes', signal: 'kill', pids: [812, 1] },
      },
    ]);
  });

  it('is no more delivered when a part of it has failed unsent', async () => {
    const { body } = await signal(about([812, 999_999]));
    await world.processEvents();
    const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(read).toMatchObject({ activity_status: 'undelivered', delivery_time: null });
    const statuses = read.children.map((child: { activity_status: string }) => child.activity_status);
    expect(statuses).toEqual(['undelivered', 'failed']);
  });

  it('fails as a whole when it can send nothing', async () => {
    const { body } = await signal(about([999_999]), 'terminate');
    expect(body.summary).toBe('Signal process (PID 999999) with TERM');
    await world.processEvents();
    const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(read).toMatchObject({ activity_status: 'failed', delivery_time: null });
  });

  it('leaves a line in the event log', async () => {
    const { body } = await signal(about([1]));
    const [event] = await world.db.query('select message from event where entity_id = $1', [body.id]);
    expect(event).toEqual({ message: `Signal process systemd (PID 1) with KILL on computer ${world.ids['web']}` });
  });

  const stored = () =>
    world.db.query(
      'select count(*) from activity union all select count(*) from agent_inbox union all select count(*) from event',
    );
  it.each<[string, unknown]>([
    ['no pid', []],
    ['0', [0]],
    ['-1', [-1]],
    ['1.5', [1.5]],
    ['2^31', [2 ** 31]],
    ['101 pids', Array.from({ length: 101 }, (_, i) => i + 1)],
    ['1,000,000 pids', Array(1_000_000).fill(1)],
    ['texts in a list', ['1', '2']],
    ['null', null],
    ['nothing', undefined],
    ['an empty text', ''],
    ['a text with a gap', '1,,2'],
    ['a text that ends in a comma', '1,'],
    ['a text of 0', '0'],
    ['a text of -1', '-1'],
    ['a text of +1', '+1'],
    ['a text of 01', '01'],
    ['a number', 1],
    ['an object', {}],
    ['a text of words', 'one'],
    ['a text with 2^31', '1,2147483648'],
    ['a text of 101 pids', Array.from({ length: 101 }, (_, i) => i + 1).join(',')],
  ])('SIGNAL-bad: rejects %s, and stores nothing', async (_, pids) => {
    const before = await stored();
    const { status, body } = await signal(about(pids));
    expect(await stored()).toEqual(before);
    if (Array.isArray(pids) && pids.length > 100_000) return expect([400, 413]).toContain(status);
    expect({ status, ...body }).toMatchObject({ status: 400, error: 'InvalidParameter', code: 400 });
    for (const { path, message } of body.details) {
      expect(path).toMatch(/^body\.pids(\.\d)?$/);
      expect(message).toMatch(/^(is required|must be (a list of 1 to 100 process ids|an integer|>= 1|<= 2147483647))/);
    }
  });

  it('SIGNAL-bad: knows no other signal', async () => {
    const before = await stored();
    for (const name of ['stop', 'KILL', '9', 'hup']) {
      const { status, body } = await signal(about([812]), name);
      expect({ status, error: body.error }).toEqual({ status: 404, error: 'NotFound' });
    }
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['a foreign computer', 'foreign', 'admin', 404, 'UnknownComputer'],
    ['a pending computer', 'pending', 'admin', 404, 'UnknownComputer'],
    ['an archived computer', 'archived', 'admin', 400, 'ComputerArchived'],
    ['whoever only reads', 'web', 'auditor', 403, 'Forbidden'],
    ['a computer that may be seen but not managed', 'desk', 'mixed', 403, 'Forbidden'],
    ['a computer out of sight', 'desk', 'servers', 404, 'UnknownComputer'],
  ] as const)('BATCH-mixed: rejects %s', async (_, computer, who, status, error) => {
    const before = await stored();
    const response = await signal(about([812], computer), 'kill', world.tokens[who]);
    expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
    expect(await stored()).toEqual(before);
  });
});

describe('POST /computers/<id>/restart and /shutdown', () => {
  it.each([
    ['restart', 'Restart computer', 'RestartRequest', true],
    ['shutdown', 'Shutdown computer', 'ShutdownRequest', false],
  ])('makes a group with one operation for %s', async (action, summary, type, reboot) => {
    const { status, body } = await world.app.call('POST', `/computers/${world.ids['web']}/${action}`, {
      token: world.tokens.admin,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ type: 'ActivityGroup', summary, activity_status: 'undelivered' });
    expect(await children(body.id)).toMatchObject([{ type, summary, message_type: 'shutdown', fields: { reboot } }]);
  });

  it('can be delivered later', async () => {
    const path = `/computers/${world.ids['web']}/restart`;
    const { body } = await world.app.call('POST', path, {
      token: world.tokens.admin,
      body: { deliver_after: '2026-11-22T00:00:00Z', deliver_delay_window: 10 },
    });
    expect(body).toMatchObject({ activity_status: 'scheduled', deliver_delay_window: 10 });
    const { status } = await world.app.call('POST', path, {
      token: world.tokens.admin,
      body: { deliver_after: '2020-01-01T00:00:00Z' },
    });
    expect(status).toBe(400);
  });
});
