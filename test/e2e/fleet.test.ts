import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet, FleetOptions, SimulatedComputer } from '../../src/fleet/fleet.ts';
import { readLedgerLines } from '../../src/fleet/ledger.ts';
import { createAccount } from '../support/accounts.ts';
import { createTestApp } from '../support/app.ts';
import { startGateway, type TestGateway } from '../support/fleet-gateway.ts';

let gateway: TestGateway;
let administrator: Awaited<ReturnType<typeof createAccount>>;
const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const fleets: Fleet[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  administrator = await createAccount(gateway.database.persistence.db, 'standalone');
});

afterAll(async () => {
  await gateway?.close();
  rmSync(folder, { recursive: true });
});

async function enrolled(options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const fleet = gateway.fleet(options);
  fleets.push(fleet);
  await fleet.start();
  await fleet.settled(30_000);
  return fleet;
}

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

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the document by the app itself
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
    fleet = await enrolled({ computers: 25 });
  });

  afterAll(() => fleet?.stop());

  async function execute(computer: SimulatedComputer, type: string, fields: object) {
    const id = await gateway.give(computer.computerId!, type, fields);
    const [result, ...more] = await gateway.resultsOf(id);
    expect(more).toEqual([]);
    expect(fleet.ledger.count(computer.title, id)).toBe(1);
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

  it('tells hosts and children, distributions, clouds and pending reboots', async () => {
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

  it('tells its packages by the dialogue of hashes, each version once for all', async () => {
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
    const results = await Promise.all(ids.map((id) => gateway.resultsOf(id)));
    expect(results.every(([first, ...more]) => first!.ok && more.length === 0)).toBe(true);
    expect(able.map(({ title }, position) => fleet.ledger.count(title, ids[position]!))).toEqual(able.map(() => 1));
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
    expect(fleet.ledger.repeated()).toEqual([]);
  });
});

describe('faults of one computer', () => {
  const install = { snaps: [{ name: 'hello' }] };
  let seed = 100;

  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.stop()));
  });

  async function aComputer(options: Partial<FleetOptions> = {}) {
    const fleet = await enrolled({ seed: seed++, ...options });
    return { fleet, computer: fleet.computers[0]! };
  }

  it.each([
    ['its answer is lost', 'lostAnswers', 1],
    ['it sends twice', 'duplicateSends', 1],
    ['it dies before executing', 'dieBefore', 1],
    ['it dies after executing', 'dieAfter', 2],
  ] as const)('when %s has one result', async (_, mishap, executions) => {
    const { fleet, computer } = await aComputer();
    computer.knobs.next[mishap] = 1;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    expect(await gateway.resultsOf(id)).toHaveLength(1);
    expect(fleet.ledger.count(computer.title, id)).toBe(executions);
    expect([...fleet.violations]).toEqual([]);
  });

  it('is offline: its operation waits until it is back', async () => {
    const { fleet, computer } = await aComputer();
    computer.knobs.offline = true;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(fleet.ledger.total).toBe(0);
    computer.knobs.offline = false;
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: true }]);
  });

  it('fails what it is told to fail', async () => {
    const { computer } = await aComputer();
    computer.knobs.failing = 1;
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: false }]);
  });

  it('stays away once turned off, until it is turned on', async () => {
    const { fleet, computer } = await aComputer();
    const off = await gateway.give(computer.computerId!, 'shutdown', { reboot: false });
    expect(await gateway.resultsOf(off)).toMatchObject([{ ok: true }]);
    await expect.poll(() => computer.isDown).toBe(true);
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(fleet.ledger.count(computer.title, id)).toBe(0);
    computer.powerOn();
    expect(await gateway.resultsOf(id)).toMatchObject([{ ok: true }]);
    expect(computer.machine.boots).toBe(1);
  });

  it('goes away for good when it belongs to the share that is offline', async () => {
    const { fleet, computer } = await aComputer({ shares: { offline: 1 } });
    expect([computer.knobs.offline, computer.isEnrolled, fleet.violations.size]).toEqual([true, true, 0]);
  });

  it('keeps identity, snaps and packages over a restart of the simulator', async () => {
    const stateFile = join(folder, 'restart');
    const first = await aComputer({ stateFile, seed: 500 });
    const { computerId } = first.computer;
    const id = await gateway.give(computerId!, 'install-snaps', install);
    await gateway.resultsOf(id);
    await first.fleet.settled(10_000);
    await first.fleet.stop();
    const second = await aComputer({ stateFile, seed: 500 });
    expect(second.computer.computerId).toBe(computerId);
    expect(second.computer.machine.snaps.map(({ name }) => name)).toContain('hello');
    expect(second.fleet.ledger.count(second.computer.title, id)).toBe(0);
    expect([...second.fleet.violations]).toEqual([]);
  });

  it('enrols again when its identity is gone', async () => {
    const { fleet, computer } = await aComputer();
    const before = computer.computerId;
    await query('update agent_identity set secure_id_hash = $2 where computer_id = $1', [before, Buffer.from('gone')]);
    computer.exchangeSoon();
    await expect.poll(() => computer.computerId !== before && computer.isSettled, { timeout: 10_000 }).toBe(true);
    expect([...fleet.violations]).toEqual([]);
  });

  it('waits for an account that does not exist yet', async () => {
    const fleet = gateway.fleet({ seed: seed++, account: 'later' });
    fleets.push(fleet);
    await fleet.start();
    await expect.poll(() => fleet.statistics.exchanges, { timeout: 5000 }).toBeGreaterThan(2);
    expect(fleet.computers[0]!.isEnrolled).toBe(false);
    await createAccount(gateway.database.persistence.db, 'later');
    await fleet.settled(10_000);
  });

  it('writes its ledger before the result goes out', async () => {
    const ledgerFile = join(folder, 'ledger');
    const { computer } = await aComputer({ ledgerFile });
    const id = await gateway.give(computer.computerId!, 'install-snaps', install);
    await gateway.resultsOf(id);
    expect(readLedgerLines(ledgerFile)).toMatchObject([
      { computer: computer.title, computerId: computer.computerId, operationId: id, type: 'install-snaps', count: 1 },
    ]);
  });
});
