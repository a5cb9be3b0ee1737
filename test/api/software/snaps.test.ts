import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';

let world: FleetWorld;

beforeAll(async () => {
  world = await createFleetWorld();
});
afterAll(() => world?.close());

const request = (over: object = {}) => ({
  action: 'install',
  computer_ids: [world.ids['web']],
  snaps: [{ name: 'hello' }],
  ...over,
});
const post = (over: object = {}, token = world.tokens.admin) =>
  world.app.call('POST', '/snaps', { token, body: request(over) });

async function stored(): Promise<object> {
  const [row] = await world.db.query(
    `select (select count(*) from activity) as activities, (select count(*) from lane) as batches,
       (select count(*) from operation_payload) as payloads, (select count(*) from outbox) as commands`,
  );
  return row!;
}

async function payloadOf(group: number) {
  const [row] = await world.db.query(
    `select p.message_type, p.fields, a.summary, a.type from activity a join operation_payload p on p.id = a.payload_id
     where a.parent_id = $1 limit 1`,
    [group],
  );
  return row!;
}

describe('POST /snaps', () => {
  it('responds with the group it made', async () => {
    const { status, body } = await post({ computer_ids: [world.ids['web'], world.ids['desk'], world.ids['web']] });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: body.id,
      type: 'ActivityGroup',
      summary: 'Install snaps on computer',
      creation_time: '2026-11-21T12:00:00Z',
      creator: { id: world.adminId, name: 'Admin One', email: 'admin@fleet.example' },
      approval_time: null,
      completion_time: null,
      deliver_delay_window: 0,
      parent_id: null,
      result_text: null,
      result_code: null,
      activity_status: 'undelivered',
    });
    const children = await world.db.query('select computer_id from activity where parent_id = $1 order by id', [
      body.id,
    ]);
    expect(children.map((child) => child['computer_id'])).toEqual([world.ids['web'], world.ids['desk']]);
    expect(await world.db.query('select kind from outbox where key = $1', [String(body.id)])).toEqual([
      { kind: 'start' },
    ]);
  });

  it.each([
    ['install', { channel: 'latest/edge', revision: '42', classic: true }, 'InstallSnaps'],
    ['refresh', { channel: 'latest/edge', revision: '42' }, 'RefreshSnaps'],
    ['remove', undefined, 'RemoveSnaps'],
    ['hold', { hold_level: 'general', time: '2030-01-01T00:00:00Z' }, 'HoldSnaps'],
    ['unhold', undefined, 'UnholdSnaps'],
  ])('carries out %s with the arguments it takes', async (action, args, type) => {
    const snap = {
      name: 'hello',
      channel: 'latest/edge',
      revision: 42,
      classic: true,
      time: '2030-01-01T01:00:00+01:00',
    };
    const { status, body } = await post({ action, snaps: [snap] });
    expect(status).toBe(200);
    expect(await payloadOf(body.id)).toMatchObject({
      message_type: `${action}-snaps`,
      fields: { snaps: [args ? { name: 'hello', args } : { name: 'hello' }] },
      type,
    });
  });

  it('holds forever unless the request has an end', async () => {
    const nothing = { channel: null, revision: null, classic: null, time: null };
    const { body } = await post({ action: 'hold', snaps: [{ name: 'hello', ...nothing }] });
    expect((await payloadOf(body.id))['fields']).toEqual({
      snaps: [{ name: 'hello', args: { hold_level: 'general', time: 'forever' } }],
    });
  });

  it('schedules a delivery and echoes its window', async () => {
    const after = '2026-11-22T00:00:00Z';
    const { body } = await post({ deliver_after: after, deliver_after_window: 30 });
    expect(body).toMatchObject({ activity_status: 'scheduled', deliver_delay_window: 30 });
    const { body: detail } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(detail.deliver_after_time).toBe(after);
    expect(detail.children[0]).toMatchObject({ activity_status: 'scheduled', deliver_delay_window: 30 });
    const [child] = await world.db.query('select deliver_after_time from activity where parent_id = $1', [body.id]);
    const wait = (child!['deliver_after_time'] as Date).getTime() - Date.parse(after);
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThanOrEqual(30 * 60_000);
  });

  it('MASS-assign: rejects what it does not know, in every place, and stores nothing', async () => {
    const before = await stored();
    const { body } = await post({ account_id: 99, status: 'succeeded', snaps: [{ name: 'hello', devmode: true }] });
    expect(body.error).toBe('InvalidParameter');
    const places = body.details.map(({ path }: { path: string }) => path).sort();
    expect(places).toEqual(['body.account_id', 'body.snaps.0.devmode', 'body.status']);
    expect(await stored()).toEqual(before);
  });

  it('accepts 1,000 computers and more in one request', async () => {
    const rows = await world.db.query<{ id: number }>(
      `insert into computer (account_id, access_group_id, state, title)
       select account_id, access_group_id, 'approved', 'mass' from computer, generate_series(1, 1000) where id = $1
       returning id`,
      [world.ids['desk']],
    );
    const { status, body } = await post({ computer_ids: rows.map(({ id }) => id) });
    expect(status).toBe(200);
    const batches = await world.db.query('select size from lane where parent_id = $1', [body.id]);
    expect(batches).toEqual([{ size: 500 }, { size: 500 }]);
    await world.db.query(`delete from computer where title = 'mass'`);
  });

  it('names the snap that is given twice', async () => {
    const { body } = await post({ snaps: [{ name: 'a' }, { name: 'a' }] });
    expect(body.details).toEqual([{ path: 'body.snaps.1.name', message: expect.stringContaining('twice') }]);
  });

  describe('rejects, and stores nothing', () => {
    const rejected: Array<[string, () => object, number, string]> = [
      ['an unknown computer', () => ({ computer_ids: [2147483647] }), 404, 'UnknownComputer'],
      ['a pending computer', () => ({ computer_ids: [world.ids['pending']] }), 404, 'UnknownComputer'],
      [
        'BATCH-mixed: a foreign computer among own ones',
        () => ({ computer_ids: [world.ids['web'], world.ids['foreign'], world.ids['desk']] }),
        404,
        'UnknownComputer',
      ],
      ['an archived computer', () => ({ computer_ids: [world.ids['archived']] }), 400, 'ComputerArchived'],
      ['a snap named twice', () => ({ snaps: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] }), 400, 'InvalidParameter'],
      ['no computer', () => ({ computer_ids: [] }), 400, 'InvalidParameter'],
      ['computers that are no list', () => ({ computer_ids: 1 }), 400, 'InvalidParameter'],
      ['a computer id of text', () => ({ computer_ids: ['1'] }), 400, 'InvalidParameter'],
      ['ID-bad: 0', () => ({ computer_ids: [0] }), 400, 'InvalidParameter'],
      ['ID-bad: 1.5', () => ({ computer_ids: [1.5] }), 400, 'InvalidParameter'],
      ['ID-bad: 2^53', () => ({ computer_ids: [2 ** 53] }), 400, 'InvalidParameter'],
      ['too many computers', () => ({ computer_ids: Array(100_001).fill(1) }), 400, 'InvalidParameter'],
      ['no snap', () => ({ snaps: [] }), 400, 'InvalidParameter'],
      [
        '101 snaps',
        () => ({ snaps: Array.from({ length: 101 }, (_, i) => ({ name: `s${i}` })) }),
        400,
        'InvalidParameter',
      ],
      ['a snap without name', () => ({ snaps: [{}] }), 400, 'InvalidParameter'],
      ['a name with a blank', () => ({ snaps: [{ name: 'a b' }] }), 400, 'InvalidParameter'],
      ['a name of two lines', () => ({ snaps: [{ name: 'a\n' }] }), 400, 'InvalidParameter'],
      ['a name with U+0000', () => ({ snaps: [{ name: 'a\u0000' }] }), 400, 'InvalidJson'],
      ['a name of half a character', () => ({ snaps: [{ name: 'a\ud800' }] }), 400, 'InvalidJson'],
      ['an empty channel', () => ({ snaps: [{ name: 'a', channel: '' }] }), 400, 'InvalidParameter'],
      ['a revision in words', () => ({ snaps: [{ name: 'a', revision: 'new' }] }), 400, 'InvalidParameter'],
      ['classic in words', () => ({ snaps: [{ name: 'a', classic: 'yes' }] }), 400, 'InvalidParameter'],
      ['another action', () => ({ action: 'explode' }), 400, 'InvalidParameter'],
      ['no action', () => ({ action: undefined }), 400, 'InvalidParameter'],
      [
        'TIME-bad: a hold until never',
        () => ({ action: 'hold', snaps: [{ name: 'a', time: 'never' }] }),
        400,
        'InvalidParameter',
      ],
      ['TIME-bad: the past', () => ({ deliver_after: '2026-11-21T11:59:59Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: now', () => ({ deliver_after: '2026-11-21T12:00:00Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: year 1', () => ({ deliver_after: '0001-01-01T00:00:00Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: the end of time', () => ({ deliver_after: '9999-12-31T23:59:59Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: a leap second', () => ({ deliver_after: '2030-12-31T23:59:60Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: 30 February', () => ({ deliver_after: '2030-02-30T00:00:00Z' }), 400, 'InvalidParameter'],
      ['TIME-bad: a number', () => ({ deliver_after: 1900000000 }), 400, 'InvalidParameter'],
      ['TIME-bad: a window of 1e9', () => ({ deliver_after_window: 1e9 }), 400, 'InvalidParameter'],
      ['TIME-bad: a window of -1', () => ({ deliver_after_window: -1 }), 400, 'InvalidParameter'],
      ['TIME-bad: a window of 1.5', () => ({ deliver_after_window: 1.5 }), 400, 'InvalidParameter'],
    ];

    it.each(rejected)('%s', async (_, over, status, error) => {
      const before = await stored();
      const response = await post(over());
      expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
      expect(await stored()).toEqual(before);
    });

    it.each([
      ['new', 'must be a revision such as 29619 or x1'],
      [0, 'must be a revision such as 29619 or x1'],
      [true, 'must be a revision such as 29619 or x1'],
    ])('the revision %j, in one true line', async (revision, message) => {
      const { body } = await post({ snaps: [{ name: 'a', revision }] });
      expect(body.details).toEqual([{ path: 'body.snaps.0.revision', message }]);
    });

    it('names the computers it rejects, the same for those of another account as for none', async () => {
      const { body } = await post({ computer_ids: [world.ids['foreign'], 2147483647] });
      expect(body.details).toEqual([
        { id: world.ids['foreign'], message: 'there is no such computer' },
        { id: 2147483647, message: 'there is no such computer' },
      ]);
    });

    it.each([
      ['whoever only reads', 'auditor', 'web', 403, 'Forbidden'],
      ['a computer that may be seen but not managed', 'mixed', 'desk', 403, 'Forbidden'],
      ['a computer out of sight', 'servers', 'desk', 404, 'UnknownComputer'],
    ] as const)('%s', async (_, who, computer, status, error) => {
      const before = await stored();
      const response = await post({ computer_ids: [world.ids['web'], world.ids[computer]] }, world.tokens[who]);
      expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
      expect(await stored()).toEqual(before);
    });
  });

  it('lets a manager of one access group act there', async () => {
    const { status } = await post({ computer_ids: [world.ids['web'], world.ids['db']] }, world.tokens.servers);
    expect(status).toBe(200);
  });
});

describe('GET /computers/<id>/snaps/installed', () => {
  it('pages what the computer reported, by name', async () => {
    await world.db.query(
      `insert into computer_snap (computer_id, name, snap_id, version, revision, tracking_channel, confinement, held_until,
         publisher_username, publisher_validation, summary)
       values ($1, 'hello', 'id-1', '2.10', '42', 'latest/stable', 'strict', 'forever', 'canonical', 'verified', 'Greets'),
         ($1, 'core22', 'id-2', '20240904', '1622', null, null, null, null, null, null)`,
      [world.ids['web']],
    );
    const { body } = await world.app.call('GET', `/computers/${world.ids['web']}/snaps/installed`, {
      token: world.tokens.auditor,
    });
    expect(body).toMatchObject({ count: 2, next: null, previous: null });
    expect(body.results).toEqual([
      {
        version: '20240904',
        revision: '1622',
        tracking_channel: null,
        held_until: null,
        confinement: null,
        snap: { id: 'id-2', name: 'core22', summary: null, publisher: { username: null, validation: null } },
      },
      {
        version: '2.10',
        revision: '42',
        tracking_channel: 'latest/stable',
        held_until: 'forever',
        confinement: 'strict',
        snap: {
          id: 'id-1',
          name: 'hello',
          summary: 'Greets',
          publisher: { username: 'canonical', validation: 'verified' },
        },
      },
    ]);
  });
});
