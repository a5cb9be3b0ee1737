import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/persistence/database/sql.ts';
import { BTuple } from '../../../src/protocol/bpickle.ts';
import { createServedFleet, RawAgent, type ServedFleet } from '../../support/agents/raw-agent.ts';
import { computerReports, announcePackages } from '../../support/computers/computers.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createAdmin, createTestApp } from '../../support/http/app.ts';

let fleet: ServedFleet;
let silent: RawAgent;
const { reporting, detail, read } = computerReports(() => fleet);

beforeAll(async () => {
  fleet = await createServedFleet();
  await announcePackages(fleet.db, fleet.accountId, 1, 100);
  [silent] = (await fleet.enrol(1)) as [RawAgent];
});
afterAll(() => fleet?.close());

const device = (name: string, change: object = {}) => ({
  interface: Buffer.from(name),
  ip_address: Buffer.from('10.0.0.5'),
  mac_address: Buffer.from('00:16:3e:00:00:01'),
  broadcast_address: Buffer.from('10.0.0.255'),
  netmask: Buffer.from('255.255.255.0'),
  flags: 4163,
  ...change,
});

describe('with_network and with_all_network', () => {
  it('show active devices, or all of them with more about each', async () => {
    const unplugged = { ip_address: Buffer.from('0.0.0.0'), flags: 4098 };
    const agent = await reporting({
      type: 'network-device',
      devices: [device('eth0'), device('eth1', unplugged), device('eth2')],
      'device-speeds': [
        { interface: Buffer.from('eth0'), speed: 1000, duplex: true },
        { interface: Buffer.from('eth1'), speed: 0, duplex: false },
        { interface: Buffer.from('eth2'), speed: -1, duplex: false },
      ],
    });
    const eth0 = {
      interface: 'eth0',
      ip_address: '10.0.0.5',
      mac_address: '00:16:3e:00:00:01',
      broadcast_address: '10.0.0.255',
      netmask: '255.255.255.0',
    };
    expect((await read(agent, 'with_network=true')).network_devices).toEqual([eth0, { ...eth0, interface: 'eth2' }]);
    const all = [
      { ...eth0, active: true, speed: 1000, duplex: true },
      { ...eth0, interface: 'eth1', ip_address: '0.0.0.0', active: false, speed: 0, duplex: false },
      { ...eth0, interface: 'eth2', active: true, speed: null, duplex: false },
    ];
    expect((await read(agent, 'with_all_network=1')).network_devices).toEqual(all);
    expect((await read(agent, 'with_all_network=1&with_network=1')).network_devices).toEqual(all);
    await agent.exchange([{ type: 'network-device', devices: [device('eth2')], 'device-speeds': [] }]);
    expect((await read(agent, 'with_network=1')).network_devices).toHaveLength(1);
    expect((await read(agent, 'with_all_network=1')).network_devices).toHaveLength(3);
  });

  it('show none before any is reported', async () => {
    expect((await read(silent, 'with_network=1')).network_devices).toEqual([]);
    expect(await read(silent, '')).not.toHaveProperty('network_devices');
  });
});

describe('with_upgrades', () => {
  it('counts regular and security upgrades as the package sets change', async () => {
    const agent = await reporting({
      type: 'packages',
      installed: [1, 2],
      'available-upgrades': [new BTuple([10, 14])],
      security: [new BTuple([12, 13]), 99],
    });
    expect((await read(agent, 'with_upgrades=true')).upgrades).toEqual({ regular: 3, security: 2 });
    await agent.exchange([{ type: 'packages', 'not-available-upgrades': [12] }]);
    expect((await read(agent, 'with_upgrades=true')).upgrades).toEqual({ regular: 3, security: 1 });
    expect((await read(silent, 'with_upgrades=true')).upgrades).toEqual({ regular: 0, security: 0 });
  });
});

describe('with_release_upgrades', () => {
  const release = (version: string, id = 'Ubuntu') => ({
    type: 'distribution-info',
    'distributor-id': id,
    description: `${id} ${version}`,
    release: version,
    'code-name': 'name',
  });

  it.each([
    [true, '22.04', 'lts', 'Ubuntu'],
    [true, '25.10', 'normal', 'Ubuntu'],
    [false, '22.04', 'never', 'Ubuntu'],
    [false, '26.04', 'lts', 'Ubuntu'],
    [false, '22.04', 'lts', 'Debian'],
  ])('reports %s for release %s with prompt %s of %s', async (expected, version, prompt, distributor) => {
    const agent = await reporting(release(version, distributor), { type: 'update-manager-info', prompt });
    expect((await read(agent, 'with_release_upgrades=true')).has_release_upgrades).toBe(expected);
  });

  it('reports no upgrade before anything is known', async () => {
    expect((await read(silent, 'with_release_upgrades=true')).has_release_upgrades).toBe(false);
  });
});

describe('with_alerts', () => {
  it('shows what is wrong, and stops when it is not', async () => {
    const agent = await reporting(
      { type: 'reboot-required-info', flag: true },
      { type: 'package-reporter-result', code: 100, err: `${'x'.repeat(100_000)}...MESSAGE TRUNCATED DUE TO SIZE` },
      { type: 'packages', installed: [1], 'available-upgrades': [2], security: [2] },
    );
    expect((await read(agent, 'with_alerts=true')).alerts).toEqual([
      { type: 'SecurityUpgradesAlert', summary: 'Security upgrades are available', severity: 'info' },
      { type: 'PackageReporterAlert', summary: 'Package reporting failed', severity: 'danger' },
      { type: 'ComputerRebootAlert', summary: 'The computer needs to be restarted', severity: 'warning' },
    ]);
    await agent.exchange([
      { type: 'reboot-required-info', flag: false },
      { type: 'package-reporter-result', code: 0, err: '' },
      { type: 'packages', 'not-available-upgrades': [2] },
    ]);
    expect((await read(agent, 'with_alerts=true')).alerts).toEqual([]);
  });

  it('raises silence by itself, and never of archived computers', async () => {
    const agent = await reporting();
    const offline = { type: 'ComputerOfflineAlert', summary: 'The computer is offline', severity: 'danger' };
    // The time of the exchange is written a moment after it, and then over this one.
    const readSilent = async () => {
      await fleet.db.query(
        `update computer_contact set known_since = now() - interval '1 hour', last_exchange_time = now() - interval '6 min',
           last_ping_time = now() - interval '6 min' where computer_id = $1`,
        [agent.id],
      );
      return (await read(agent, 'with_alerts=true')).alerts;
    };
    await expect.poll(readSilent, { timeout: 60_000, interval: 500 }).toEqual([offline]);
    await fleet.db.query('update computer set archived = true where id = $1', [agent.id]);
    expect((await detail(agent, 'with_alerts=true')).alerts).toEqual([]);
  });
});

describe('with_reboot_packages and with_annotations', () => {
  it('show what was reported', async () => {
    const agent = await reporting(
      { type: 'reboot-required-info', flag: true, packages: ['linux-base', 'dbus', 'Xorg'] },
      { type: 'computer-info', annotations: { rack: 'a7\n', note: '' } },
    );
    const shown = await read(agent, 'with_reboot_packages=true&with_annotations=true');
    expect(shown).toMatchObject({
      reboot_packages: ['Xorg', 'dbus', 'linux-base'],
      annotations: { rack: 'a7', note: '' },
    });
    const nothing = await read(silent, 'with_reboot_packages=true&with_annotations=true');
    expect(nothing).toMatchObject({ reboot_packages: [], annotations: {} });
  });
});

describe('with_profiles and with_wsl_profiles', () => {
  it('show profiles by name, those of WSL on Windows computers alone', async () => {
    const hostagent = { hostagent_uid: 'uid-profiles' };
    const host = await RawAgent.enrol(fleet, { name: 'standalone' }, hostagent);
    const child = await RawAgent.enrol(fleet, { name: 'standalone' }, { ...hostagent, 'container-info': 'wsl' });
    await addProfiles(fleet.db, host.id, ['package', 'wsl', 'removal']);
    await addProfiles(fleet.db, child.id, ['package']);
    const wsl = { id: 1, name: 'wsl-profile', title: 'Wsl profile', type: 'wsl' };
    const both = await read(host, 'with_profiles=true&with_wsl_profiles=true');
    expect(both.wsl_profiles).toEqual([wsl]);
    expect(both.profiles).toEqual([
      { id: 1, name: 'package-profile', title: 'Package profile', type: 'package' },
      { id: 1, name: 'removal-profile', title: 'Removal profile', type: 'removal' },
      wsl,
    ]);
    const other = await read(child, 'with_profiles=true&with_wsl_profiles=true');
    expect(other).not.toHaveProperty('wsl_profiles');
    expect(other.profiles).toHaveLength(1);
    expect((await read(silent, 'with_profiles=true')).profiles).toEqual([]);
  });
});

async function addProfiles(db: Database, computerId: number, types: readonly string[]): Promise<void> {
  await db.query(
    `insert into profile (account_id, type, id, name, title)
     select $1, type, 1, type || '-profile', initcap(type) || ' profile' from unnest($2::text[]) type
     on conflict do nothing`,
    [fleet.accountId, types],
  );
  await db.query(
    `insert into computer_profile (account_id, type, profile_id, computer_id)
     select $1, type, 1, $3 from unnest($2::text[]) type`,
    [fleet.accountId, types, computerId],
  );
}

const EVERY_BLOCK = [
  'alerts',
  'upgrades',
  'release_upgrades',
  'reboot_packages',
  'network',
  'all_network',
  'hardware',
  'annotations',
  'grouped_hardware',
  'profiles',
  'wsl_profiles',
]
  .map((name) => `with_${name}=true`)
  .join('&');

describe('cost', () => {
  it('is two statements for a page, whatever is shown and however many there are', async () => {
    const database = await createTestDatabase();
    const { persistence } = database;
    const statements: string[] = [];
    const counting = (db: Database): Database => ({
      ...db,
      query: (text, values, name) => {
        statements.push(text);
        return db.query(text, values, name);
      },
    });
    const { db, genericPlanDb } = persistence;
    // A caller's rights are kept for two seconds: these must not end between two requests.
    const now = new Date();
    const counted = { ...persistence, db: counting(db), genericPlanDb: counting(genericPlanDb) };
    const app = await createTestApp(counted, { clock: { now: () => now } });
    try {
      await createAdmin(persistence);
      const token = await app.login();
      for (const computers of [1, 50]) {
        await persistence.db.query(
          `insert into computer (account_id, access_group_id, state, title)
           select account_id, id, 'approved', 'pc' from access_group, generate_series(1, $1::int)`,
          [computers],
        );
        for (const parameters of ['', EVERY_BLOCK]) {
          await app.call('GET', '/person', { token });
          statements.length = 0;
          const { body } = await app.call('GET', `/computers?${parameters}`, { token });
          expect(body.count).toBeGreaterThanOrEqual(computers);
          expect(statements).toHaveLength(2);
        }
      }
    } finally {
      await app.close();
      await database.drop();
    }
  });
});
