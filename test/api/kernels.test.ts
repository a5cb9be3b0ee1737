import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../support/fleet-world.ts';
import { insertPackage, reportKernels, reportPackages } from '../support/packages.ts';

type Kernels = Awaited<ReturnType<typeof reportKernels>>;

let world: FleetWorld;
let kernels: Kernels;

beforeAll(async () => {
  world = await createFleetWorld();
  kernels = await reportKernels(world.db, world.ids['web']!);
  for (const computer of ['foreign', 'archived', 'pending']) await reportKernels(world.db, world.ids[computer]!);
});
afterAll(() => world?.close());

const get = (path: string, computer = 'web', token = world.tokens.admin) =>
  world.app.call('GET', `/computers/${world.ids[computer]}/${path}`, { token });
const listing = async (computer = 'web') => (await get('hotpatch/kernel', computer)).body;

const HOT_PATCHED = {
  humane: { error: '', return_code: 0, output: { kernel: '6.8.0-45.45-generic' } },
  json: {
    error: '',
    return_code: 0,
    output: {
      Status: [
        {
          Kernel: '6.8.0-45.45-generic',
          Running: true,
          Supported: 'supported',
          Hotpatch: { State: 'applied', Fixes: [{ Name: 'cve-2026-00001', Patched: true }] },
        },
      ],
    },
  },
};
const SERVICE = { available: 'yes', name: 'hotpatch', status: 'enabled' };
const NO_REBOOT = { error: '', output: { hotpatch_enabled: true, reboot_required: 'no' } };

async function report(
  change: { hotpatch?: unknown; service?: unknown; reboot?: unknown; flag?: boolean },
  computer = 'web',
) {
  const services = change.service ? { services: [{ name: 'esm-infra' }, change.service] } : null;
  await world.db.query(
    `update computer set hotpatch_info = $2, distro_pro_info = $3, distro_pro_reboot_required_info = $4,
       reboot_required = $5 where id = $1`,
    [
      world.ids[computer],
      JSON.stringify(change.hotpatch ?? null),
      JSON.stringify(services),
      JSON.stringify(change.reboot ?? null),
      change.flag ?? false,
    ],
  );
}

describe('GET /computers/<id>/hotpatch/info', () => {
  it('gives three nulls when nothing was reported', async () => {
    expect((await get('hotpatch/info', 'desk')).body).toEqual({
      hotpatch_info: null,
      distro_pro_hotpatch_service_info: null,
      distro_pro_reboot_required_info: null,
    });
  });

  it('gives back what was reported, verbatim', async () => {
    await report({ hotpatch: HOT_PATCHED, service: SERVICE, reboot: NO_REBOOT }, 'db');
    expect((await get('hotpatch/info', 'db')).body).toEqual({
      hotpatch_info: HOT_PATCHED,
      distro_pro_hotpatch_service_info: SERVICE,
      distro_pro_reboot_required_info: NO_REBOOT,
    });
  });

  it.each(['hotpatch/info', 'hotpatch/kernel', 'processes', 'snaps/installed'])(
    'shows %s of nobody else',
    async (path) => {
      for (const computer of ['foreign', 'pending']) {
        const { status, body } = await get(path, computer);
        expect({ status, error: body.error }).toEqual({ status: 404, error: 'UnknownComputer' });
      }
      expect((await get(path, 'desk', world.tokens.servers)).status).toBe(404);
      expect((await get(path, 'archived')).status).toBe(200);
    },
  );
});

describe('GET /computers/<id>/hotpatch/kernel', () => {
  it('lists the versions above and below the installed one in the order of Debian versions', async () => {
    const name = 'linux-image-generic';
    expect(await listing()).toEqual({
      installed: { id: kernels.now, name, version: '6.8.0.45.45', version_rounded: '6.8.0.45', fixes: null },
      upgrades: [{ id: kernels.next, name, version: '6.8.0.101.101', version_rounded: '6.8.0.101', fixes: null }],
      downgrades: [{ id: kernels.old, name, version: '6.8.0.9.9', version_rounded: '6.8.0.9', fixes: null }],
      message: '',
      smart_status: 'Kernel upgrade available',
    });
  });

  it('shows what a version mends, where it is known', async () => {
    await world.db.query(
      `insert into package_fix values ('linux-image-generic', '6.8.0.101.101', '9001-1', '2026-04-20', 'Kernel fixes', '{CVE-2026-00001}')`,
    );
    expect((await listing()).upgrades[0].fixes).toEqual({
      cves: ['CVE-2026-00001'],
      name: '9001-1',
      release_date: '2026-04-20',
      summary: 'Kernel fixes',
    });
  });

  it('says why there is nothing to list', async () => {
    const empty = { installed: null, upgrades: [], downgrades: [], smart_status: 'Waiting for status' };
    expect(await listing('desk')).toEqual({ ...empty, message: 'The computer has not reported its packages yet.' });
    const image = await insertPackage(world.db, 'linux-image-unsigned-6.8.0-45-generic', '6.8.0-45.45');
    await reportPackages(world.db, world.ids['desk']!, { installed: [kernels.images.now, image] });
    expect(await listing('desk')).toEqual({
      ...empty,
      message: 'The computer has not reported a kernel package of its own.',
    });
  });

  const json = HOT_PATCHED.json.output.Status[0]!;
  const running = (change: object) => ({
    ...HOT_PATCHED,
    json: { ...HOT_PATCHED.json, output: { Status: [{ ...json, ...change }] } },
  });
  const absent = { error: 'not found', return_code: -1, output: '' };
  it.each<[string, Parameters<typeof report>[0], boolean]>([
    ['Hotpatch disabled', { hotpatch: HOT_PATCHED, service: { ...SERVICE, status: 'disabled' }, flag: true }, true],
    ['Hotpatch disabled', { hotpatch: { humane: absent, json: absent } }, true],
    ['Restart required', { hotpatch: HOT_PATCHED, service: SERVICE, flag: true }, true],
    ['Restart required', { hotpatch: HOT_PATCHED, reboot: { output: { reboot_required: 'yes' } } }, true],
    ['End of life', { hotpatch: running({ Supported: 'kernel-end-of-life' }), service: SERVICE }, true],
    ['Kernel upgrade available', { hotpatch: HOT_PATCHED, service: SERVICE, reboot: NO_REBOOT }, true],
    ['Fully patched', { hotpatch: HOT_PATCHED, service: SERVICE, reboot: NO_REBOOT }, false],
    ['Fully patched', { hotpatch: running({ Hotpatch: undefined, Livepatch: { State: 'applied' } }) }, false],
    ['Waiting for status', { hotpatch: running({ Hotpatch: { State: 'unapplied' } }), service: SERVICE }, false],
    ['Waiting for status', { hotpatch: [1, 'text'], service: 7, reboot: 'text' }, false],
  ])('finds %s', async (status, facts, upgradable) => {
    const { old, now, next } = await reportKernels(world.db, world.ids['db']!);
    if (!upgradable) await reportPackages(world.db, world.ids['db']!, { installed: [next], available: [old, now] });
    await report(facts, 'db');
    expect((await listing('db')).smart_status).toBe(status);
  });

  it('takes the package of the running flavour when several are installed', async () => {
    const aws = await insertPackage(world.db, 'linux-image-aws', '6.8.0.50.50');
    await reportPackages(world.db, world.ids['db']!, { installed: [aws, kernels.now], available: [kernels.next] });
    await report({ hotpatch: HOT_PATCHED }, 'db');
    expect((await listing('db')).installed.id).toBe(kernels.now);
    await report({}, 'db');
    expect((await listing('db')).installed.id).toBe(aws);
  });
});

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

  it('answers with the group, its status null', async () => {
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

  it('lets a restart wait behind the change', async () => {
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
  const pairs = () =>
    `kernel_package_id=${kernels.next}&reboot_after=yes&deliver_after=${encodeURIComponent(AFTER)}&deliver_delay_window=30`;
  it.each<[string, () => object, () => string]>([
    ['the query', () => ({}), () => `?${pairs()}`],
    [
      'a JSON body',
      () => ({
        body: { kernel_package_id: kernels.next, reboot_after: true, deliver_after: AFTER, deliver_delay_window: 30 },
      }),
      () => '',
    ],
    [
      'pairs typed as a form',
      () => ({ raw: pairs(), headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
      () => '',
    ],
    ['pairs typed as JSON', () => ({ raw: pairs() }), () => ''],
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
  ])('refuses %s, and stores nothing', async (_, body, computer, status, error) => {
    const count = () =>
      world.db.query(
        'select count(*) from activity union all select count(*) from operation_payload union all select count(*) from event',
      );
    const before = await count();
    const answer = await change('upgrade', { body: body() }, computer);
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
    expect(await count()).toEqual(before);
  });

  it.each([
    ['neither JSON nor pairs', 'nonsense', 'InvalidJson'],
    ['broken JSON', '{"kernel_package_id":', 'InvalidJson'],
    ['a list', '[1]', 'InvalidParameter'],
    ['pairs of words', 'kernel_package_id=one', 'InvalidParameter'],
    ['a pair given twice', 'kernel_package_id=1&kernel_package_id=2', 'InvalidParameter'],
    ['a boolean in no spelling', 'kernel_package_id=1&reboot_after=soon', 'InvalidParameter'],
  ])('refuses a body of %s', async (_, raw, error) => {
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
