import { type Catalogue, catalogueOf } from '../catalogue/packages.ts';
import { RELEASES } from '../catalogue/releases.ts';
import { createRandom } from '../random.ts';
import { type Encryption, flavourOf, type Kind, PATTERN, type Platform, type Role } from './roles.ts';

export interface Distribution {
  distributor: string;
  description: string;
  release: string;
  codeName: string;
}

export interface NetworkDevice {
  interface: string;
  address: string;
  mac: string;
  broadcast: string;
  netmask: string;
  flags: number;
  speedMbit: number;
  duplex: boolean;
}

export interface Cpu {
  model: string;
  vendor: string;
  count: number;
  cacheKib: number;
  hertz: number;
}

export interface Disk {
  device: string;
  product: string;
  vendor: string;
  bytes: number;
}

/** Everything about one computer that never changes. Derived from seed and index when needed, never stored. */
export interface Blueprint {
  seed: number;
  index: number;
  role: Role;
  kind: Kind;
  platform: Platform;
  title: string;
  hostname: string;
  machineId: string;
  serial: string;
  tags: readonly string[];
  annotations: Readonly<Record<string, string>>;
  distribution: Distribution;
  /** Null on Windows, which reports no packages, snaps or users. */
  catalogue: Catalogue | null;
  vmInfo: string;
  containerInfo: string;
  /** Shared by a Windows host and its WSL children. */
  hostagentUid: string | null;
  memoryMib: number;
  swapMib: number;
  cpu: Cpu;
  disks: readonly Disk[];
  network: readonly NetworkDevice[];
  cloud: { instanceId: string; imageId: string; instanceType: string; zone: string } | null;
  pro: boolean;
  encryption: Encryption;
  /** First boot, in seconds. */
  bootedAt: number;
}

const SITES = ['ams', 'fra', 'lon', 'nyc', 'sgp'] as const;
const TEAMS = ['platform', 'web', 'data', 'desktop', 'security'] as const;

/** Of the desktops without encryption in larger fleets. */
const FAILING_PLUGIN_SHARE = 0.3;

/** @param epoch - first start of the fleet in seconds; boot times lie before it */
export function blueprintOf(seed: number, index: number, epoch: number): Blueprint {
  const place = index % PATTERN.length;
  const block = Math.floor(index / PATTERN.length);
  const role = PATTERN[place]!;
  const random = createRandom(seed, 'computer', index);
  const title = titleOf(place, block);
  const site = random.pick(SITES);
  return {
    seed,
    index,
    role,
    kind: role.kind,
    platform: role.platform,
    title,
    hostname: role.kind === 'windows' ? title.toUpperCase() : `${title}.${site}.example.com`,
    machineId: random.uuid(),
    serial: random.hex(10).toUpperCase(),
    tags: role.tags,
    annotations: { site, team: random.pick(TEAMS), rack: `${random.pick(['a', 'b', 'c'])}${random.int(1, 40)}` },
    distribution: distributionOf(role),
    catalogue: role.release && catalogueOf(role.release, flavourOf(role.platform)),
    vmInfo: VM_INFO[role.platform],
    containerInfo: role.platform === 'lxd' ? 'lxc' : role.platform === 'wsl' ? 'wsl' : '',
    hostagentUid: hostagentUidOf(seed, role, place, block),
    ...machineOf(role, random.int(0, 3)),
    disks: disksOf(role, random.int(0, 3)),
    network: networkOf(role, index),
    cloud: cloudOf(role.platform, seed, index),
    pro: role.pro === true,
    encryption: encryptionOf(role, block, random.chance(FAILING_PLUGIN_SHARE)),
    bootedAt: epoch - random.int(3600, 40 * 86_400),
  };
}

const VM_INFO: Readonly<Record<Platform, string>> = {
  metal: '',
  laptop: '',
  kvm: 'kvm',
  vmware: 'vmware',
  aws: 'kvm',
  azure: 'hyperv',
  gcp: 'gce',
  lxd: '',
  wsl: '',
};

function titleOf(place: number, block: number): string {
  const prefix = PATTERN[place]!.prefix;
  const alike = PATTERN.filter((role) => role.prefix === prefix).length;
  const before = PATTERN.slice(0, place).filter((role) => role.prefix === prefix).length;
  return `${prefix}-${block * alike + before + 1}`;
}

function distributionOf(role: Role): Distribution {
  if (!role.release) {
    return { distributor: 'Microsoft', description: 'Microsoft Windows 11 Pro', release: '11', codeName: '24H2' };
  }
  const { version, description, name } = RELEASES[role.release];
  return { distributor: 'Ubuntu', description, release: version, codeName: name };
}

function hostagentUidOf(seed: number, role: Role, place: number, block: number): string | null {
  const host = role.kind === 'windows' ? place : role.host;
  return host === undefined ? null : createRandom(seed, 'hostagent', block, host).uuid();
}

const CPUS: Readonly<Record<'big' | 'small', readonly Omit<Cpu, 'count'>[]>> = {
  big: [
    {
      model: 'Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz',
      vendor: 'GenuineIntel',
      cacheKib: 49_152,
      hertz: 2_000_000_000,
    },
    { model: 'AMD EPYC 7763 64-Core Processor', vendor: 'AuthenticAMD', cacheKib: 512, hertz: 2_450_000_000 },
  ],
  small: [
    { model: 'Intel(R) Core(TM) Ultra 7 155H', vendor: 'GenuineIntel', cacheKib: 24_576, hertz: 1_400_000_000 },
    {
      model: 'AMD Ryzen 7 PRO 7840U w/ Radeon 780M Graphics',
      vendor: 'AuthenticAMD',
      cacheKib: 1024,
      hertz: 3_300_000_000,
    },
  ],
};

function machineOf(role: Role, draw: number): { cpu: Cpu; memoryMib: number; swapMib: number } {
  const size = role.kind === 'server' ? 'big' : 'small';
  const count = role.platform === 'metal' && size === 'big' ? 8 : 2 << (draw % 2);
  const memoryMib = count * 1024 * (draw < 2 ? 2 : 4) - 64 - draw;
  return {
    cpu: { ...CPUS[size][draw % 2]!, count },
    memoryMib,
    swapMib: role.kind === 'windows' || role.platform === 'lxd' ? 0 : 2048,
  };
}

const GIB = 2 ** 30;

function disksOf(role: Role, draw: number): Disk[] {
  if (role.platform === 'lxd') return [];
  if (role.platform === 'wsl') return [{ device: 'sda', product: 'Virtual Disk', vendor: 'Msft', bytes: 1024 * GIB }];
  if (role.kind !== 'server') {
    return [{ device: 'nvme0n1', product: 'PM9A1 NVMe 512GB', vendor: 'Samsung', bytes: 476 * GIB }];
  }
  if (role.platform !== 'metal') {
    const device = role.platform === 'aws' ? 'nvme0n1' : 'vda';
    return [{ device, product: 'Virtual Disk', vendor: 'QEMU', bytes: (20 << draw) * GIB }];
  }
  const disk = { product: 'MZ7L3960HCJR', vendor: 'Samsung', bytes: 894 * GIB };
  return ['sda', 'sdb'].map((device) => ({ ...disk, device }));
}

const UP_BROADCAST_RUNNING_MULTICAST = 4163;
const BROADCAST_MULTICAST = 4098;

function networkOf(role: Role, index: number): NetworkDevice[] {
  const host = index + 16;
  const net = `10.${16 + (host >> 16)}.${(host >> 8) & 255}`;
  const tail = [16, 8, 0].map((shift) => ((index >> shift) & 255).toString(16).padStart(2, '0')).join(':');
  const first: NetworkDevice = {
    interface:
      role.kind === 'windows' ? 'Ethernet' : role.kind === 'server' && role.platform !== 'metal' ? 'ens5' : 'enp3s0',
    address: `${net}.${host & 255}`,
    mac: `52:54:00:${tail}`,
    broadcast: `10.${16 + (host >> 16)}.255.255`,
    netmask: '255.255.0.0',
    flags: UP_BROADCAST_RUNNING_MULTICAST,
    speedMbit: role.kind === 'server' ? 10_000 : 1000,
    duplex: true,
  };
  if (role.platform === 'wsl' || role.platform === 'lxd') return [{ ...first, interface: 'eth0', speedMbit: 10_000 }];
  if (role.platform !== 'metal' && role.platform !== 'laptop') return [first];
  const unplugged = { address: '0.0.0.0', broadcast: '0.0.0.0', netmask: '0.0.0.0', flags: BROADCAST_MULTICAST };
  const second = role.platform === 'metal' ? 'enp4s0' : role.kind === 'windows' ? 'Wi-Fi' : 'wlp2s0';
  return [first, { ...first, ...unplugged, interface: second, mac: `52:54:01:${tail}`, speedMbit: 0, duplex: false }];
}

function cloudOf(platform: Platform, seed: number, index: number): Blueprint['cloud'] {
  const random = createRandom(seed, 'cloud', index);
  if (platform === 'aws') {
    const zone = `eu-west-1${random.pick(['a', 'b', 'c'])}`;
    return { instanceId: `i-0${random.hex(16)}`, imageId: 'ami-0a1b2c3d4e5f60718', instanceType: 'm7i.large', zone };
  }
  if (platform === 'azure') {
    return {
      instanceId: random.uuid(),
      imageId: 'ubuntu-server',
      instanceType: 'Standard_D4s_v5',
      zone: 'westeurope-1',
    };
  }
  if (platform === 'gcp') {
    return {
      instanceId: random.digits(19),
      imageId: 'ubuntu-lts',
      instanceType: 'e2-standard-4',
      zone: 'europe-west4-b',
    };
  }
  return null;
}

function encryptionOf(role: Role, block: number, drawn: boolean): Encryption {
  if (role.encryption) return role.encryption;
  return role.kind === 'desktop' && block > 0 && drawn ? 'failing' : 'absent';
}
