import type { Item } from './list-case.ts';

const NETWORK = 'interface, ip_address, mac_address, broadcast_address, netmask';
const PROFILES = `select m.computer_id, p.id, p.name, p.title, p.type from computer_profile m
  join profile p on p.account_id = m.account_id and p.type = m.type and p.id = m.profile_id`;

const COUNTED_ALERTS = new Set([
  'PackageUpgradesAlert',
  'SecurityUpgradesAlert',
  'PackageReporterAlert',
  'ComputerRebootAlert',
  'ComputerOfflineAlert',
]);

/** An optional block and its rows. */
export interface Block {
  parameter: string;
  key: string;
  /** Reads the block's rows, each with `computer_id`. Null where the page's own rows contain it. */
  text: string | null;
  /** Number of rows, or of ones in a number, after the key of one item. */
  size(value: unknown): number;
  /** The same for one bare row. */
  worth(row: Item): number;
}

const ofComputers = (select: string, and = '') =>
  `${select} where computer_id = any($1::int[]) ${and} order by computer_id`;
const list = (value: unknown) => (value as unknown[]).length;
const one = () => 1;

/** One entry is one case. */
export const BLOCKS: readonly Block[] = [
  {
    parameter: 'with_alerts',
    key: 'alerts',
    text: `select s.*, greatest(contact.known_since, last_ping_time, last_exchange_time) <= now() - interval '5 minutes' as offline
      from computer_contact contact left join computer_status s using (computer_id) where contact.computer_id = any($1::int[])`,
    size: (value) => (value as Item[]).filter(({ type }) => COUNTED_ALERTS.has(String(type))).length,
    worth: (row) =>
      ['regular_upgrades_since', 'security_upgrades_since', 'package_reporter_since', 'reboot_since'].filter(
        (column) => row[column] !== null,
      ).length + (row['offline'] ? 1 : 0),
  },
  {
    parameter: 'with_upgrades',
    key: 'upgrades',
    text: ofComputers('select computer_id, regular_upgrades, security_upgrades from computer_status'),
    size: (value) =>
      (value as { regular: number; security: number }).regular + (value as { security: number }).security,
    worth: (row) => Number(row['regular_upgrades']) + Number(row['security_upgrades']),
  },
  { parameter: 'with_release_upgrades', key: 'has_release_upgrades', text: null, size: one, worth: one },
  {
    parameter: 'with_reboot_packages',
    key: 'reboot_packages',
    text: 'select id as computer_id, reboot_packages from computer where id = any($1::int[])',
    size: list,
    worth: (row) => list(row['reboot_packages']),
  },
  {
    parameter: 'with_network',
    key: 'network_devices',
    text: ofComputers(`select computer_id, ${NETWORK} from computer_network`, 'and active'),
    size: list,
    worth: one,
  },
  {
    parameter: 'with_all_network',
    key: 'network_devices',
    text: ofComputers(`select computer_id, ${NETWORK}, active, speed, duplex from computer_network`),
    size: list,
    worth: one,
  },
  {
    parameter: 'with_hardware',
    key: 'hardware',
    text: ofComputers('select computer_id, flat from computer_hardware'),
    size: list,
    worth: (row) => list(row['flat'] ?? []),
  },
  {
    parameter: 'with_grouped_hardware',
    key: 'grouped_hardware',
    text: ofComputers('select computer_id, grouped from computer_hardware'),
    size: (value) => list((value as Item)['cpu']),
    worth: (row) => list((row['grouped'] as Item)['cpu']),
  },
  {
    parameter: 'with_annotations',
    key: 'annotations',
    text: 'select id as computer_id, annotations from computer where id = any($1::int[])',
    size: (value) => Object.keys(value as Item).length,
    worth: (row) => Object.keys(row['annotations'] as Item).length,
  },
  {
    parameter: 'with_wsl_profiles',
    key: 'wsl_profiles',
    text: ofComputers(PROFILES, `and m.type = 'wsl'`),
    size: (value) => list(value ?? []),
    worth: one,
  },
];
