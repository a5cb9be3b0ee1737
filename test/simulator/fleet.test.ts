import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../tools/harness/accounts.ts';
import type { Fleet, SimulatedComputer } from '../../tools/simulator/fleet.ts';
import { startGateway, type TestGateway } from '../support/agents/fleet-world.ts';
import { createTestApp } from '../support/http/app.ts';

let gateway: TestGateway;
let administrator: Awaited<ReturnType<typeof createAccount>>;

beforeAll(async () => {
  gateway = await startGateway();
  administrator = await createAccount(gateway.database.persistence.db, 'standalone');
});

afterAll(() => gateway?.close());

function query<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> {
  return gateway.database.persistence.db.query<Row>(text, values);
}

const BLOCKS = [
  'alerts',
  'upgrades',
  'release_upgrades',
  'reboot_packages',
  'all_network',
  'hardware',
  'annotations',
  'grouped_hardware',
  'wsl_profiles',
];

// biome-ignore lint/suspicious/noExplicitAny: responses are checked against the document by the app itself
function expectBelievable(computer: any): void {
  const { cpu, memory, network, system, usb } = computer.grouped_hardware;
  const texts = [
    cpu[0].model,
    cpu[0].clock_speed,
    memory.size,
    network[0].mac,
    system.model,
    system.serial,
    usb[0].model,
  ];
  expect(texts).not.toContain('Not available');
  expect(computer.hardware.length).toBeGreaterThan(5);
  expect(computer.network_devices[0]).toMatchObject({ active: true, speed: expect.any(Number), duplex: true });
  expect(Object.keys(computer.annotations)).toEqual(expect.arrayContaining(['rack', 'site', 'team']));
  expect(computer.total_memory).toBeGreaterThan(1000);
  expect(computer.distribution_info.release).toBe(computer.distribution);
}

describe('a fleet of 25 at the real gateway', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = gateway.fleet({ computers: 25 });
    await fleet.start();
    await fleet.settled(30_000);
  });

  afterAll(() => fleet?.stop());

  async function execute(computer: SimulatedComputer, type: string, fields: object) {
    const id = await gateway.give(computer.computerId!, type, fields);
    const [result, ...more] = await gateway.resultsOf(id, fleet);
    expect(more).toEqual([]);
    expect(fleet.executionLog.count(computer.title, id)).toBe(1);
    return result!;
  }

  it('enrols every computer under the name it knows itself by', async () => {
    const rows = await query<{ id: number; title: string; state: string }>('select id, title, state from computer');
    const known = new Map(rows.map(({ id, title }) => [id, title]));
    expect(known.size).toBe(25);
    for (const { computerId, title } of fleet.computers) expect(known.get(computerId!)).toBe(title);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['approved']));
  });

  it('has nothing to complain of, nor has the gateway', async () => {
    expect([...fleet.violations]).toEqual([]);
    expect(fleet.statistics.failedExchanges).toBe(0);
    expect(await query('select * from agent_rejected_message')).toEqual([]);
    expect(await query('select * from agent_unknown_type')).toEqual([]);
  });

  it('fills every block that lists of computers can show', async () => {
    const app = await createTestApp(gateway.database.persistence);
    try {
      const token = await app.login(administrator);
      const parameters = BLOCKS.map((name) => `with_${name}=true`).join('&');
      const { body } = await app.call('GET', `/computers?root_only=false&${parameters}`, { token });
      expect(body.count).toBe(25);
      for (const computer of body.results) expectBelievable(computer);
      const shown = new Map<string, { [key: string]: unknown }>(
        body.results.map((c: { title: string }) => [c.title, c]),
      );
      const alerts = (title: string) =>
        (shown.get(title)!['alerts'] as Array<{ type: string }>).map(({ type }) => type);
      expect(alerts('mail-1')).toContain('ComputerRebootAlert');
      expect(shown.get('mail-1')!['reboot_packages']).toContain('linux-base');
      expect(alerts('web-1')).toContain('SecurityUpgradesAlert');
      expect(shown.get('web-1')).toMatchObject({ has_release_upgrades: true });
      expect(shown.get('web-3')).toMatchObject({ has_release_upgrades: false });
      expect(shown.get('win-desk-1')).toMatchObject({ wsl_profiles: [], upgrades: { regular: 0, security: 0 } });
      expect(shown.get('web-1')).not.toHaveProperty('wsl_profiles');
    } finally {
      await app.close();
    }
  });

  it('reports hosts and children, distributions, clouds and pending reboots', async () => {
    const children = await query<{ parent: string; child: string }>(
      `select p.title as parent, c.title as child from computer c join computer p on p.id = c.parent_id order by c.title`,
    );
    expect(children).toEqual([
      { parent: 'win-desk-1', child: 'wsl-1' },
      { parent: 'win-desk-1', child: 'wsl-2' },
      { parent: 'win-desk-2', child: 'wsl-3' },
    ]);
    const [counts] = await query(
      `select count(distinct distribution)::int as releases,
         count(*) filter (where reboot_required)::int as reboots,
         count(*) filter (where cloud_instance_metadata <> '{}')::int as clouds,
         count(*) filter (where distribution_info->>'distributor' = 'Microsoft')::int as windows from computer`,
    );
    expect(counts).toEqual({ releases: 5, reboots: 3, clouds: 6, windows: 2 });
  });

  it('reports its packages by the dialogue of hashes, each version once for all', async () => {
    const [{ packages, machines }] = (await query(
      `select (select count(*)::int from package) as packages, (select count(*)::int from computer_packages) as machines`,
    )) as [{ packages: number; machines: number }];
    const catalogues = fleet.computers.flatMap(({ machine }) => machine.blueprint.catalogue?.packages ?? []);
    expect(packages).toBe(new Set(catalogues.map(({ hash }) => hash.toString('hex'))).size);
    expect(machines).toBe(23);
  });

  it('carries out an installation of snaps once on every computer that takes it', async () => {
    const able = fleet.computers.filter(({ machine }) => machine.blueprint.catalogue);
    const ids = await Promise.all(
      able.map(({ computerId }) => gateway.give(computerId!, 'install-snaps', { snaps: [{ name: 'hello' }] })),
    );
    const results = await Promise.all(ids.map((id) => gateway.resultsOf(id, fleet)));
    expect(results.every(([first, ...more]) => first!.ok && more.length === 0)).toBe(true);
    expect(able.map(({ title }, position) => fleet.executionLog.count(title, ids[position]!))).toEqual(
      able.map(() => 1),
    );
    const [row] = await query(`select count(*)::int as count from computer_snap where name = 'hello'`);
    expect(row).toEqual({ count: able.length });
  });

  it('runs a script', async () => {
    const result = await execute(fleet.computers[0]!, 'execute-script', {
      username: 'root',
      interpreter: '/bin/sh',
      code: 'echo hello; exit 3',
      'time-limit': 60,
      attachments: {},
    });
    expect(result).toEqual({ ok: false, code: 103, body: 'hello\n' });
  });

  it('upgrades a kernel by the ids of the server, then reboots into it', async () => {
    const computer = fleet.computers[0]!;
    const { catalogue } = computer.machine.blueprint;
    const meta = catalogue!.byName.get(catalogue!.kernelMeta!)!;
    const rows = await query<{ id: number; version: string }>(
      'select id, version from package where name = $1 and version = any($2)',
      [catalogue!.kernelMeta, meta.map(({ version }) => version)],
    );
    const newest = rows.find(({ version }) => version === meta.at(-1)!.version)!;
    const upgraded = await execute(computer, 'change-packages', { install: [newest.id], policy: 2 });
    expect(upgraded).toMatchObject({ ok: true, code: 1 });
    const pending = () => query('select reboot_required from computer where id = $1', [computer.computerId]);
    await fleet.settled(10_000);
    expect(await pending()).toEqual([{ reboot_required: true }]);
    expect(await execute(computer, 'shutdown', { reboot: true })).toMatchObject({ ok: true });
    await expect.poll(() => computer.machine.boots).toBe(1);
    await fleet.settled(10_000);
    expect(await pending()).toEqual([{ reboot_required: false }]);
    expect(`linux-image-${computer.machine.kernel}`).toBe(meta.at(-1)!.requires[0]);
  });

  it('hands over a recovery key and a compliance report', async () => {
    const desk = fleet.computers.find(({ machine }) => machine.blueprint.encryption === 'tpm')!;
    const [key, audit] = await Promise.all([
      execute(desk, 'fde-recovery-key', { action: 'generate' }),
      execute(fleet.computers[3]!, 'usg', { action: 'audit', profile: 'cis_level1_server', 'run-id': 'r1' }),
    ]);
    expect([key.ok, audit.ok]).toEqual([true, true]);
    const [stored] = await query('select count(*)::int as reports from usg_audit_report');
    expect(stored).toEqual({ reports: 1 });
  });

  it('leaves nothing to complain of after all that', () => {
    expect([...fleet.violations]).toEqual([]);
    expect(fleet.executionLog.repeated()).toEqual([]);
  });
});
