import { activeProfilesOf } from '../query/profile-scope.sql.ts';
import { ALERT_RULES, type AlertRule } from '../query/alert-conditions.ts';
import type { Compilation } from '../query/compilation.ts';
import { releaseUpgradeCondition } from '../query/system-conditions.ts';
import { IS_WSL_HOST } from './computer-columns.ts';

/** Optional parts of a computer, read only on request. @see docs/api-conventions.md#optional-blocks */
export const COMPUTER_BLOCKS = [
  'alerts',
  'upgrades',
  'releaseUpgrades',
  'rebootPackages',
  'network',
  'allNetwork',
  'hardware',
  'annotations',
  'groupedHardware',
  'profiles',
  'wslProfiles',
] as const;

export type ComputerBlock = (typeof COMPUTER_BLOCKS)[number];

const JOINS = {
  s: 'left join computer_status s on s.computer_id = c.id',
  h: 'left join computer_hardware h on h.computer_id = c.id',
  i: 'left join computer_inventory i on i.computer_id = c.id',
};

interface Block {
  key: string;
  joins: ReadonlyArray<keyof typeof JOINS>;
  value: string;
  when?: string;
}

const PROFILE_PARTS: readonly string[] = [
  `select p.id, p.name, p.title, p.type
   from computer_profile m join profile p on p.account_id = m.account_id and p.type = m.type and p.id = m.profile_id
   where m.computer_id = c.id`,
  `select p.id, p.name, p.title, 'usg' as type from (${activeProfilesOf('usg', 'c')}) p`,
  `select p.id, p.name, p.title, 'script' as type from (${activeProfilesOf('script', 'c')}) p`,
];

function profilesOf(only = 'true'): string {
  return `(select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'title', p.title, 'type', p.type)
    order by p.name collate "C", p.type, p.id), '[]'::json) from (${PROFILE_PARTS.join(' union all ')}) p where ${only})`;
}

const NETWORK = ['interface', 'ip_address', 'mac_address', 'broadcast_address', 'netmask'];

const BLOCKS: Readonly<Record<Exclude<ComputerBlock, 'releaseUpgrades'>, Block>> = {
  alerts: { key: 'alerts', joins: ['s'], value: alerts() },
  upgrades: {
    key: 'upgrades',
    joins: ['s'],
    value: `json_build_object('regular', coalesce(s.regular_upgrades, 0), 'security', coalesce(s.security_upgrades, 0))`,
  },
  rebootPackages: {
    key: 'reboot_packages',
    joins: [],
    value: `(select coalesce(array_agg(p order by p collate "C"), '{}') from unnest(c.reboot_packages) p)`,
  },
  network: { key: 'network_devices', joins: [], value: devices(NETWORK, 'n.active') },
  allNetwork: { key: 'network_devices', joins: [], value: devices([...NETWORK, 'active', 'speed', 'duplex'], 'true') },
  hardware: { key: 'hardware', joins: ['h'], value: `coalesce(h.flat, '[]'::json)` },
  annotations: { key: 'annotations', joins: [], value: 'c.annotations' },
  groupedHardware: { key: 'grouped_hardware', joins: ['h', 'i'], value: groupedHardware() },
  profiles: { key: 'profiles', joins: [], value: profilesOf() },
  wslProfiles: { key: 'wsl_profiles', joins: [], value: profilesOf(`p.type = 'wsl'`), when: IS_WSL_HOST },
};

interface BlockSql {
  columns: string;
  joins: string;
  /** SQL of text to append before the closing brace of the computer's JSON. */
  sometimes: string;
}

/** @param compilation - collects the values of the SQL */
export function blockSql(blocks: ReadonlySet<ComputerBlock>, compilation: Compilation): BlockSql {
  const chosen = COMPUTER_BLOCKS.filter((name) => name !== 'releaseUpgrades')
    .filter((name) => blocks.has(name) && !(name === 'network' && blocks.has('allNetwork')))
    .map((name) => BLOCKS[name]);
  const always = chosen.filter(({ when }) => when === undefined);
  const aliases = new Set(chosen.flatMap(({ joins }) => joins));
  const columns = always.map(({ key, value }) => `, ${value} as ${key}`);
  if (blocks.has('releaseUpgrades')) {
    columns.push(`, ${releaseUpgradeCondition(compilation)} as has_release_upgrades`);
  }
  const sometimes = chosen
    .filter(({ when }) => when !== undefined)
    .map(({ key, value, when }) => `case when ${when} then ',"${key}":' || ${value}::text end`);
  return {
    columns: columns.join(''),
    joins: [...aliases].map((alias) => JOINS[alias]).join(' '),
    sometimes: sometimes.length === 0 ? "''" : `concat(${sometimes.join(', ')})`,
  };
}

function alerts(): string {
  const each = ALERT_RULES.map((rule) => {
    const { type, summary, severity } = rule;
    return `case when ${isActive(rule)} then ${jsonText({ type, summary, severity })} end`;
  });
  return `case when c.archived then '[]' else '[' || concat_ws(',', ${each.join(', ')}) || ']' end::json`;
}

function isActive({ from, computer, active }: AlertRule): string {
  if (from === 'computer_status s' || from === 'computer_contact contact') return `(${active})`;
  return `(select true from ${from} where ${computer} = c.id and ${active} limit 1)`;
}

function devices(columns: readonly string[], which: string): string {
  const pairs = columns.map((column) => `'${column}', ${column === 'speed' ? 'nullif(n.speed, -1)' : `n.${column}`}`);
  return `(select coalesce(json_agg(json_build_object(${pairs.join(', ')}) order by n.interface collate "C"), '[]'::json)
    from computer_network n where n.computer_id = c.id and ${which})`;
}

function groupedHardware(): string {
  const unknown = 'Not available';
  const product = { model: unknown, vendor: unknown };
  const rest = {
    display: product,
    memory: { size: unknown },
    multimedia: product,
    network: unknown,
    pci: [],
    scsi: [],
    storage: unknown,
    system: {
      bios_capabilities: [],
      bios_date: unknown,
      bios_vendor: unknown,
      bios_version: unknown,
      chassis: unknown,
      model: unknown,
      serial: unknown,
      vendor: unknown,
    },
    usb: [],
  };
  const cpu = `select json_agg(json_build_object('architecture', '${unknown}', 'clock_speed', '${unknown}',
      'cache', case when (p->>'cache_size')::int > 0
        then json_build_object('cache', (p->>'cache_size') || ' KiB') else '{}'::json end,
      'flags', '[]'::json, 'model', coalesce(p->>'model', '${unknown}'), 'vendor', coalesce(p->>'vendor', '${unknown}')))
    from jsonb_array_elements(i.processors) p`;
  return `coalesce(h.grouped,
    ('{"cpu":' || coalesce((${cpu})::text, '[]') || ',' || substr(${jsonText(rest)}, 2))::json)`;
}

function jsonText(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "''")}'`;
}
