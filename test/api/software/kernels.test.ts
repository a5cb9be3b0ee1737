import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFleetWorld, type FleetWorld } from '../../support/agents/fleet-world.ts';
import { insertPackage, reportKernels, reportPackages } from '../../support/computers/computers.ts';

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

  it('gives the reason why there is nothing to list', async () => {
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
    ['Kernel upgrade available', { hotpatch: running({ Supported: 'kernel-upgrade-required' }) }, false],
    ['Kernel upgrade available', { hotpatch: running({ Hotpatch: { State: 'Kernel-upgrade-required' } }) }, false],
    [
      'Kernel upgrade available',
      {
        hotpatch: running({
          Livepatch: { State: 'applied', CheckState: 'kernel-upgrade-required' },
          Hotpatch: undefined,
        }),
      },
      false,
    ],
    [
      'Kernel upgrade available',
      {
        hotpatch: HOT_PATCHED,
        reboot: { output: { hotpatch_enabled: true, livepatch_support: 'kernel-upgrade-required' } },
      },
      false,
    ],
    [
      'Kernel upgrade available',
      { hotpatch: HOT_PATCHED, service: { ...SERVICE, warning: { code: 'livepatch-kernel-upgrade-required' } } },
      false,
    ],
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

  it('takes the package of the running kernel of one flavour, offers its upgrade and carries it out', async () => {
    const [ga, hwe, hweNext] = [
      await insertPackage(world.db, 'linux-image-generic', '5.15.0.122.122'),
      await insertPackage(world.db, 'linux-image-generic-hwe-22.04', '6.8.0-45.45~22.04.1'),
      await insertPackage(world.db, 'linux-image-generic-hwe-22.04', '6.8.0-51.52~22.04.1'),
    ];
    await reportPackages(world.db, world.ids['db']!, { installed: [ga, hwe], available: [ga, hwe, hweNext] });
    const hotpatch = running({ Kernel: '6.8.0-45.45~22.04.1-generic' });
    await report({ hotpatch, service: SERVICE, reboot: NO_REBOOT }, 'db');
    const { installed, upgrades, smart_status } = await listing('db');
    expect({ installed: installed.id, upgrades: upgrades.map(({ id }: { id: number }) => id), smart_status }).toEqual({
      installed: hwe,
      upgrades: [hweNext],
      smart_status: 'Kernel upgrade available',
    });
    const { status } = await world.app.call('POST', `/computers/${world.ids['db']}/kernel/upgrade`, {
      token: world.tokens.admin,
      body: { kernel_package_id: hweNext },
    });
    expect(status).toBe(200);
  });
});
