import { createRandom, type Random } from '../../../tools/simulator/random.ts';

/** The time of queries over the world. */
export const NOW = new Date('2026-11-20T12:00:00Z');

const DAY_MS = 86_400_000;
export const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS);

/** A computer as plain data, with everything that selectors look at. */
export interface WorldComputer {
  /** Place in the world; becomes an id when it is stored. */
  index: number;
  account: 0 | 1;
  group: string;
  state: 'approved' | 'pending';
  archived: boolean;
  title: string;
  hostname: string;
  tags: string[];
  annotations: Record<string, string>;
  distribution: string | null;
  info: { distributor: string | null; description: string; release: string | null; code_name: string | null } | null;
  prompt: string | null;
  reboot: boolean;
  cloud: Record<string, string>;
  cloudInit: Record<string, string>;
  devices: Array<{ ip: string; mac: string; active: boolean }>;
  pro: object | null;
  /** Minutes since it was heard. */
  silentMinutes: number;
  reporterFailed: boolean;
  upgrades: { regular: number; security: number };
  license: 'seat' | 'old seat' | null;
  contracts: string[];
  profiles: Array<{ type: string; id: number; status: string | null }>;
  /** States of the runs of each USG profile that it was part of, in order. */
  audits: Record<UsgProfileName, UsgState[]>;
}

export type UsgProfileName = 'all servers' | 'tagged' | 'nobody' | 'archived';
/** What a run is for a computer; `queued`: not delivered yet, `canceled`: over without a result. */
export type UsgState = 'queued' | 'in-progress' | 'canceled' | 'pass' | 'fail';
const USG_STATES: readonly UsgState[] = ['queued', 'in-progress', 'canceled', 'pass', 'fail'];

/** USG profiles of both accounts. */
export const USG_PROFILES: Readonly<Record<UsgProfileName, { group: string; all: boolean; tags: readonly string[] }>> =
  {
    'all servers': { group: 'servers', all: true, tags: [] },
    tagged: { group: 'global', all: false, tags: ['lab', 'web'] },
    nobody: { group: 'global', all: false, tags: [] },
    archived: { group: 'global', all: true, tags: [] },
  };

/** Access groups of both accounts by name, with their parents. */
export const GROUPS: Readonly<Record<string, string | null>> = {
  global: null,
  servers: 'global',
  databases: 'servers',
  replicas: 'databases',
  desktops: 'global',
  "o'brien": 'global',
};

/** Contracts imported for each account; the second account's have other ends and are free the other way round. */
export const CONTRACTS: ReadonlyArray<{ id: string; free: boolean; days: number | null }> = [
  { id: 'c-imported', free: false, days: 10 },
  { id: 'c-free', free: true, days: 100 },
  { id: 'c-open', free: false, days: null },
  { id: 'c-past', free: false, days: -1 },
];

/** Days until the licences of an account end; the second account's a day later. */
export const SEATS = { seat: 30, 'old seat': -5 } as const;

export const PROFILE_TYPES = ['repository', 'package', 'upgrade', 'reboot', 'removal', 'wsl'] as const;

export const NAMES = [
  'web-1',
  'web-2',
  'WEB-10',
  'db-1',
  'Datenbank Süd',
  '100%_sure',
  '100 sure',
  'a\\b',
  "O'Neill; drop table computer--",
  'ÉCOLE-7',
  'lab 1',
  'OR',
  'x',
  '東京-1',
];
export const TAGS = ['web', 'Web', 'lab', 'db', 'prod', '東京', 'a'];
export const KEYS = ['rack', 'Rack', 'owner', "it's", 'url'];
export const TEXTS = ['7', '77', 'Room 7', 'room 7', 'http://x:80/a', '100%', 'a_b', '\\', ''];
export const ADDRESSES = ['10.0.0.1', '10.0.0.11', '110.0.0.1', '192.168.1.20', 'fe80::1a2B', '10.1.0.0', ''];
export const MACS = ['00:16:3e:aa:bb:cc', '00:16:3E:AA:BB:CD', '52:54:00:01:02:03', '00-16-3e-aa-bb-cc'];
const RELEASES = [
  ['22.04', 'jammy', 'lts'],
  ['24.04', 'noble', 'lts'],
  ['24.04', 'Noble', 'never'],
  ['25.10', 'questing', 'normal'],
  ['25.10', 'questing', 'lts'],
  ['26.04', 'resolute', 'lts'],
  ['26.04', 'resolute', 'normal'],
  ['26.10', null, 'normal'],
] as const;

/** A believable world of two accounts with everything odd in it; the same for the same seed. */
export function createQueryWorld(seed: number, size: number): WorldComputer[] {
  return Array.from({ length: size }, (_, index) => createComputer(createRandom(seed, 'computer', index), index));
}

function createComputer(random: Random, index: number): WorldComputer {
  const some = <T>(items: readonly T[], most: number) => random.sample(items, random.int(0, most));
  const states = () => Array.from({ length: random.int(0, 2) }, () => random.pick(USG_STATES));
  return {
    index,
    account: random.chance(0.8) ? 0 : 1,
    group: random.pick(Object.keys(GROUPS)),
    state: random.chance(0.95) ? 'approved' : 'pending',
    archived: random.chance(0.05),
    title: random.pick(NAMES),
    hostname: random.chance(0.1) ? '' : `${random.pick(NAMES)}${random.chance(0.5) ? '.fleet.example' : ''}`,
    tags: some(TAGS, 3),
    annotations: Object.fromEntries(some(KEYS, 3).map((key) => [key, random.pick(TEXTS)])),
    ...createSystem(random),
    reboot: random.chance(0.3),
    cloud: random.chance(0.6) ? {} : { 'instance-id': `i-${random.int(1, 3)}`, 'instance-type': 't3.small' },
    cloudInit: random.chance(0.6) ? {} : { availability_zone: random.pick(['zone-a', 'null']) },
    devices: Array.from({ length: random.int(0, 2) }, () => ({
      ip: random.pick(ADDRESSES),
      mac: random.pick(MACS),
      active: random.chance(0.5),
    })),
    pro: createPro(random),
    silentMinutes: random.pick([0, 1, 10, 100_000]),
    reporterFailed: random.chance(0.2),
    upgrades: { regular: random.pick([0, 0, 3]), security: random.pick([0, 0, 2]) },
    license: random.pick(['seat', 'old seat', null, null]),
    contracts: some(
      CONTRACTS.map(({ id }) => id),
      1,
    ),
    profiles: some(PROFILE_TYPES, 3).map((type) => ({
      type,
      id: random.int(1, 2),
      status: random.pick([null, 'compliant', 'noncompliant']),
    })),
    audits: { 'all servers': states(), tagged: states(), nobody: states(), archived: states() },
  };
}

function createSystem(random: Random): Pick<WorldComputer, 'distribution' | 'info' | 'prompt'> {
  if (random.chance(0.15)) return { distribution: null, info: null, prompt: null };
  if (random.chance(0.15)) {
    const info = { distributor: 'Microsoft', description: 'Windows', release: '10.0 - 11.0', code_name: null };
    return { distribution: info.release, info, prompt: null };
  }
  const [release, code_name, prompt] = random.pick(RELEASES);
  const info = { distributor: random.chance(0.9) ? 'Ubuntu' : null, description: 'Linux', release, code_name };
  return { distribution: release, info, prompt: random.chance(0.9) ? prompt : null };
}

/** What an agent reports of its subscription, odd reports among them. */
function createPro(random: Random): object | null {
  const id = random.pick(['c-imported', 'c-free', 'c-open', 'c-other', 'c-past']);
  const expires = random
    .pick([inDays(5), inDays(20), inDays(-20)])
    .toISOString()
    .replace('Z', '+00:00');
  return random.pick<object | null>([
    null,
    { attached: false, contract: { id }, expires },
    { attached: true, contract: { id, products: ['uai-advanced'] }, expires },
    { attached: true, contract: { id, products: ['free'] }, expires },
    { attached: true, expires: random.pick(['soon', '2026-13-45T00:00:00Z', 'infinity', null]) },
    { attached: 'yes', contract: 'none', services: 7, expires: 5 },
  ]);
}
