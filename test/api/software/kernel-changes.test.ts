import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { reportKernels } from '../../support/computers/computers.ts';

type Kernels = Awaited<ReturnType<typeof reportKernels>>;

let world: FleetWorld;
let kernels: Kernels;

beforeAll(async () => {
  world = await createFleetWorld();
  kernels = await reportKernels(world.db, world.ids['web']!);
  for (const computer of ['foreign', 'archived', 'pending']) await reportKernels(world.db, world.ids[computer]!);
});
afterAll(() => world?.close());

describe('POST /computers/<id>/kernel/upgrade and /downgrade', () => {
  const change = (action: 'upgrade' | 'downgrade', options: object, computer = 'web', query = '') =>
    world.app.call('POST', `/computers/${world.ids[computer]}/kernel/${action}${query}`, {
      token: world.tokens.admin,
      ...options,
    });
  const childrenOf = (group: number) =>
    world.db.query(
      `select a.type, a.status, a.summary, a.package_ids, a.blocked_by, p.message_type, p.fields
       from activity a join operation_payload p on p.id = a.payload_id where a.parent_id = $1 order by a.id`,
      [group],
    );

  it('responds with the group, its status null', async () => {
    const { status, body } = await change('upgrade', { body: { kernel_package_id: kernels.next } });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: body.id,
      type: 'ActivityGroup',
      summary: 'Upgrade kernel package',
      creation_time: '2026-11-21T12:00:00Z',
      creator: { id: world.adminId, name: 'Admin One', email: 'admin@fleet.example' },
      approval_time: null,
      completion_time: null,
      deliver_delay_window: 0,
      parent_id: null,
      result_text: null,
      result_code: null,
      activity_status: null,
    });
    expect(await childrenOf(body.id)).toEqual([
      {
        type: 'UpgradeKernelPackageRequest',
        status: 'undelivered',
        summary: 'Upgrade kernel package linux-image-generic to 6.8.0.101.101',
        package_ids: [kernels.next, kernels.now],
        blocked_by: null,
        message_type: 'change-packages',
        fields: { install: [kernels.next], remove: [kernels.now], policy: 2 },
      },
    ]);
    const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(read.activity_status).toBe('undelivered');
  });

  it('lets a restart wait for the change', async () => {
    const { body } = await change('downgrade', { body: { kernel_package_id: kernels.old, reboot_after: true } });
    expect(body.summary).toBe('Downgrade kernel package');
    const [first, second] = await childrenOf(body.id);
    expect(first).toMatchObject({ type: 'DowngradeKernelPackageRequest', fields: { install: [kernels.old] } });
    expect(second).toMatchObject({
      type: 'RestartRequest',
      status: 'waiting',
      message_type: 'shutdown',
      fields: { reboot: true },
      package_ids: [],
    });
  });

  const AFTER = '2026-11-22T00:00:00Z';
  const form = () =>
    `kernel_package_id=${kernels.next}&reboot_after=yes&deliver_after=${encodeURIComponent(AFTER)}&deliver_delay_window=30`;
  it.each<[string, () => object, () => string]>([
    ['the query', () => ({}), () => `?${form()}`],
    [
      'a JSON body',
      () => ({
        body: { kernel_package_id: kernels.next, reboot_after: true, deliver_after: AFTER, deliver_delay_window: 30 },
      }),
      () => '',
    ],
    ['a form', () => ({ raw: form(), headers: { 'content-type': 'application/x-www-form-urlencoded' } }), () => ''],
    ['a form typed as JSON', () => ({ raw: form() }), () => ''],
    [
      'JSON typed as text',
      () => ({
        raw: `{"kernel_package_id":${kernels.next},"reboot_after":true,"deliver_after":"${AFTER}","deliver_delay_window":30}`,
        headers: { 'content-type': 'text/plain' },
      }),
      () => '',
    ],
    [
      'the body over the query',
      () => ({ body: { kernel_package_id: kernels.next, reboot_after: true, deliver_delay_window: 30 } }),
      () => `?kernel_package_id=1&reboot_after=false&deliver_after=${AFTER}&deliver_delay_window=0`,
    ],
  ])('takes its parameters from %s', async (_, options, query) => {
    const { status, body } = await change('upgrade', options(), 'web', query());
    expect({ status, window: body.deliver_delay_window }).toEqual({ status: 200, window: 30 });
    const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(read).toMatchObject({ activity_status: 'scheduled', deliver_after_time: AFTER });
    expect(read.children.map((child: { type: string }) => child.type)).toEqual([
      'UpgradeKernelPackageRequest',
      'RestartRequest',
    ]);
  });

  it('leaves a line in the event log', async () => {
    const { body } = await change('upgrade', { body: { kernel_package_id: kernels.next, reboot_after: true } });
    const [event] = await world.db.query('select message, person_id from event where entity_id = $1', [body.id]);
    expect(event).toEqual({
      message: `Upgrade kernel package linux-image-generic to 6.8.0.101.101 on computer ${world.ids['web']}, then restart`,
      person_id: world.adminId,
    });
  });

  it.each<[string, () => object, string, number, string]>([
    ['a downgrade as upgrade', () => ({ kernel_package_id: kernels.old }), 'web', 400, 'KernelPackageNotEligible'],
    ['the installed package', () => ({ kernel_package_id: kernels.now }), 'web', 400, 'KernelPackageNotEligible'],
    [
      'a package that is no kernel',
      () => ({ kernel_package_id: kernels.images.next }),
      'web',
      400,
      'KernelPackageNotEligible',
    ],
    [
      'BATCH-mixed: a package of none',
      () => ({ kernel_package_id: 2_000_000_000 }),
      'web',
      400,
      'KernelPackageNotEligible',
    ],
    ['a computer without data', () => ({ kernel_package_id: kernels.next }), 'desk', 400, 'KernelPackageNotEligible'],
    ['BATCH-mixed: a foreign computer', () => ({ kernel_package_id: kernels.next }), 'foreign', 404, 'UnknownComputer'],
    ['a pending computer', () => ({ kernel_package_id: kernels.next }), 'pending', 404, 'UnknownComputer'],
    ['an archived computer', () => ({ kernel_package_id: kernels.next }), 'archived', 400, 'ComputerArchived'],
    ['no package', () => ({}), 'web', 400, 'InvalidParameter'],
    ['null for a package', () => ({ kernel_package_id: null }), 'web', 400, 'InvalidParameter'],
    ['a package of text', () => ({ kernel_package_id: '94' }), 'web', 400, 'InvalidParameter'],
    ['ID-bad: 0', () => ({ kernel_package_id: 0 }), 'web', 400, 'InvalidParameter'],
    ['ID-bad: 2^53', () => ({ kernel_package_id: 2 ** 53 }), 'web', 400, 'InvalidParameter'],
    [
      'a restart in words',
      () => ({ kernel_package_id: kernels.next, reboot_after: 'soon' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: the past',
      () => ({ kernel_package_id: kernels.next, deliver_after: '2026-11-21T11:59:59Z' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: now',
      () => ({ kernel_package_id: kernels.next, deliver_after: '2026-11-21T12:00:00' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: year 1',
      () => ({ kernel_package_id: kernels.next, deliver_after: '0001-01-01T00:00:00Z' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: the end of time',
      () => ({ kernel_package_id: kernels.next, deliver_after: '9999-12-31T23:59:59Z' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: a leap second',
      () => ({ kernel_package_id: kernels.next, deliver_after: '2030-12-31T23:59:60Z' }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: a window of 1e9',
      () => ({ kernel_package_id: kernels.next, deliver_delay_window: 1e9 }),
      'web',
      400,
      'InvalidParameter',
    ],
    [
      'TIME-bad: a window of -1',
      () => ({ kernel_package_id: kernels.next, deliver_delay_window: -1 }),
      'web',
      400,
      'InvalidParameter',
    ],
  ])('rejects %s, and stores nothing', async (_, body, computer, status, error) => {
    const count = () =>
      world.db.query(
        'select count(*) from activity union all select count(*) from operation_payload union all select count(*) from event',
      );
    const before = await count();
    const response = await change('upgrade', { body: body() }, computer);
    expect({ status: response.status, error: response.body.error }).toEqual({ status, error });
    expect(await count()).toEqual(before);
  });

  it('TIME-bad: reports the place of a rejected time', async () => {
    const past = '2020-01-01T00:00:00Z';
    const kernel_package_id = kernels.next;
    const query = `?kernel_package_id=${kernel_package_id}&deliver_after=${past}`;
    const pathOf = async (options: object, search = '') =>
      (await change('upgrade', options, 'web', search)).body.details[0].path;
    expect(await pathOf({}, query)).toBe('query.deliver_after');
    expect(await pathOf({ body: { kernel_package_id } }, query)).toBe('query.deliver_after');
    expect(await pathOf({ body: { kernel_package_id, deliver_after: past } })).toBe('body.deliver_after');
    expect(await pathOf({ body: { deliver_after: past } }, `?kernel_package_id=${kernel_package_id}`)).toBe(
      'body.deliver_after',
    );
  });

  it.each([
    ['neither JSON nor a form', 'nonsense', 'InvalidJson'],
    ['broken JSON', '{"kernel_package_id":', 'InvalidJson'],
    ['a list', '[1]', 'InvalidParameter'],
    ['a form with words', 'kernel_package_id=one', 'InvalidParameter'],
    ['a field given twice', 'kernel_package_id=1&kernel_package_id=2', 'InvalidParameter'],
    ['a boolean in no known form', 'kernel_package_id=1&reboot_after=soon', 'InvalidParameter'],
  ])('rejects a body of %s', async (_, raw, error) => {
    const { status, body } = await change('upgrade', { raw, headers: { 'content-type': 'text/plain' } });
    expect({ status, error: body.error }).toEqual({ status: 400, error });
  });

  it('TIME-bad: takes +14:00 for what it means', async () => {
    const { body } = await change('upgrade', {
      body: { kernel_package_id: kernels.next, deliver_after: '2026-11-22T14:00:00+14:00' },
    });
    const { body: read } = await world.app.call('GET', `/activities/${body.id}`, { token: world.tokens.admin });
    expect(read.deliver_after_time).toBe(AFTER);
  });
});
