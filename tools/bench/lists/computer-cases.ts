import { BLOCKS, type Block } from './computer-block-cases.ts';
import { checkBlock, checkPage } from './computer-checks.ts';
import type { BareStatement, ListCase, Page } from './list-case.ts';

const COLUMNS = `c.id, c.title, c.comment, c.hostname, c.total_memory, c.total_swap,
  c.reboot_required as reboot_required_flag, c.update_manager_prompt, c.clone_id, contact.last_exchange_time,
  contact.last_ping_time, c.tags, g.name as access_group, c.distribution, c.distribution_info,
  c.cloud_instance_metadata, c.cloud_init, nullif(c.vm_info, '') as vm_info,
  nullif(c.container_info, '') as container_info, c.distro_pro_info,
  c.is_wsl as is_wsl_instance, c.archived, c.employee_id, c.registered_at, c.is_default_child, c.parent_id`;

const FROM = `computer c join access_group g on g.id = c.access_group_id
  left join computer_contact contact on contact.computer_id = c.id`;

const LISTED = `c.account_id = $1 and c.state = 'approved'`;

interface PageOptions {
  limit?: number;
  offset?: number;
  archived?: boolean;
  rootOnly?: boolean;
}

/** Bare statements of a page: its rows, the number of matches, and the families of its rows. */
function bareList(accountId: number, where: string, options: PageOptions = {}): BareStatement[] {
  const { limit = 1000, offset = 0, archived = false, rootOnly = true } = options;
  const matching = `${LISTED} and ${archived ? '' : 'not'} c.archived ${rootOnly ? 'and c.parent_id is null' : ''} and (${where})`;
  const family = `${LISTED} and not c.archived`;
  return [
    {
      text: `select ${COLUMNS} from ${FROM} where ${matching} order by c.id limit $2 offset $3`,
      values: [accountId, limit, offset],
    },
    { text: `select count(*) from computer c where ${matching}`, values: [accountId] },
    {
      text: `select ${COLUMNS} from ${FROM} where ${family} and c.parent_id = any($2::int[]) order by c.id`,
      values: [accountId],
      takesIds: true,
    },
    ...(rootOnly
      ? []
      : [
          {
            text: `select ${COLUMNS} from ${FROM}
              where ${family} and c.id in (select parent_id from computer where id = any($2::int[]))`,
            values: [accountId],
            takesIds: true,
          },
        ]),
  ];
}

const query = (text: string) => `/computers?query=${encodeURIComponent(text)}`;
const upgrades = (column: string) => `c.id in (select computer_id from computer_status where ${column} is not null)`;
const words = (text: string) => `lower(c.hostname) like '%${text}%' or lower(c.title) like '%${text}%'`;
const member = (type: string, id: number, status = '') =>
  `c.id in (select computer_id from computer_profile p where p.account_id = $1 and p.type = '${type}'
    and p.profile_id = ${id} ${status && `and p.status = '${status}'`})`;
const device = (condition: string) => `c.id in (select computer_id from computer_network n where ${condition})`;
const group = (name: string) =>
  `c.access_group_id = (select id from access_group where account_id = $1 and name = '${name}')`;
const OFFLINE = `c.id in (select computer_id from computer_contact
  where greatest(known_since, last_ping_time, last_exchange_time) <= now() - interval '5 minutes')`;
const SEATED = 'c.id in (select computer_id from computer_license)';
const CONTRACTED = 'c.id in (select computer_id from computer_contract)';
const ENDING = `between now() and now() + interval '30 days'`;

/** Each selector with its hand-written condition; one line is one case. */
const SELECTORS: ReadonlyArray<readonly [query: string, where: string, narrow?: 'narrow']> = [
  ['tag:production', `c.tags @> array['production']`],
  ['tag:project-1', `c.tags @> array['project-1']`],
  ['tag:quarantine', `c.tags @> array['quarantine']`, 'narrow'],
  ['tag:no-such-tag', `c.tags @> array['no-such-tag']`, 'narrow'],
  ['web', words('web')],
  ['desk-1', words('desk-1')],
  ['no-such-word', words('no-such-word'), 'narrow'],
  ['hostname:WEB-7.ams.example.com', `lower(c.hostname) = 'web-7.ams.example.com'`, 'narrow'],
  ['title:web-7', `lower(c.title) = 'web-7'`, 'narrow'],
  ['distribution:24.04', `lower(c.distribution) = '24.04' or lower(c.distribution_info->>'code_name') = '24.04'`],
  [
    'distribution:resolute',
    `lower(c.distribution) = 'resolute' or lower(c.distribution_info->>'code_name') = 'resolute'`,
  ],
  ['distribution:windows', `lower(c.distribution_info->>'distributor') = 'microsoft'`],
  ['alert:package-upgrades', upgrades('regular_upgrades_since')],
  ['alert:security-upgrades', upgrades('security_upgrades_since')],
  ['alert:package-reporter', upgrades('package_reporter_since')],
  ['alert:computer-offline', OFFLINE],
  ['alert:computer-reboot', upgrades('reboot_since')],
  ['access-group:servers-ams', group('servers-ams')],
  ['id:9', 'c.id = 9', 'narrow'],
  ['mac:52:54:00:00:0', device(`lower(mac_address) like '%52:54:00:00:0%'`)],
  ['mac:00:00:17', device(`lower(mac_address) like '%00:00:17%'`), 'narrow'],
  ['ip:10.16.1', device(`lower(ip_address) like '%10.16.1%'`)],
  ['ip:10.16.1.77', device(`lower(ip_address) like '%10.16.1.77%'`), 'narrow'],
  ['needs:reboot', 'c.reboot_required'],
  ['needs:license', `not c.pro_attached and not ${SEATED} and not ${CONTRACTED}`],
  [
    'license-type:pro',
    `c.pro_attached and not c.pro_free or c.id in (
    select m.computer_id from computer_contract m join contract k on k.account_id = m.account_id and k.id = m.contract_id where not k.free)`,
  ],
  ['license-type:legacy', SEATED],
  [
    'license-expires-within-days:30',
    `c.id in (
    select l.computer_id from computer_license l join legacy_license k on k.id = l.license_id where k.expires ${ENDING})`,
  ],
  [
    'contract:c-own-3',
    `c.pro_attached and c.pro_contract_id = 'c-own-3' or c.id in (
    select computer_id from computer_contract where contract_id = 'c-own-3')`,
    'narrow',
  ],
  [
    'contract-expires-within-days:30',
    `c.pro_attached and c.pro_expires ${ENDING} or c.id in (
    select m.computer_id from computer_contract m join contract k on k.account_id = m.account_id and k.id = m.contract_id
    where k.expires ${ENDING})`,
  ],
  ['has-pro-management:true', 'c.pro_attached'],
  ['has-pro-management:false', 'not c.pro_attached'],
  ['annotation:site', `c.annotations ? 'site'`],
  ['annotation:owner:person-1', `c.annotations ? 'owner' and strpos(c.annotations->>'owner', 'person-1') > 0`],
  ['annotation:decommission', `c.annotations ? 'decommission'`, 'narrow'],
  ['profile:package:1', member('package', 1)],
  ['profile:removal:5', member('removal', 5), 'narrow'],
  ['profile:wsl:1:compliant', member('wsl', 1, 'compliant')],
  [
    'release-upgrade:available',
    `c.distribution_info->>'distributor' = 'Ubuntu' and (
    coalesce(c.update_manager_prompt, 'lts') = 'lts' and c.distribution in ('22.04', '24.04')
    or c.update_manager_prompt = 'normal' and c.distribution in ('22.04', '24.04', '25.10'))`,
  ],
  ['search:production', `c.tags @> array['production'] and not ${OFFLINE}`],
  ['tag:web OR tag:database', `c.tags @> array['web'] or c.tags @> array['database']`],
  ['tag:web OR alert:computer-reboot', `c.tags @> array['web'] or ${upgrades('reboot_since')}`],
  ['NOT tag:production', `not c.tags @> array['production']`],
  ['NOT alert:security-upgrades', `not ${upgrades('security_upgrades_since')}`],
  ['NOT profile:package:1', `not ${member('package', 1)}`],
  ['NOT ip:10.16.1 tag:desktop', `not ${device(`lower(ip_address) like '%10.16.1%'`)} and c.tags @> array['desktop']`],
  [
    'desk tag:ring-1 NOT distribution:24.04 annotation:team:security',
    `(${words('desk')}) and c.tags @> array['ring-1']
    and not coalesce(lower(c.distribution) = '24.04' or lower(c.distribution_info->>'code_name') = '24.04', false)
    and strpos(c.annotations->>'team', 'security') > 0`,
    'narrow',
  ],
];

/** Every case for an account with so many computers. */
export function computerCases(accountId: number, computers: number): ListCase[] {
  return [...pages(accountId, computers), ...selectors(accountId), ...blocks(accountId)];
}

function pages(accountId: number, computers: number): ListCase[] {
  const walk = (name: string, family: ListCase['family'], path: string, options: PageOptions): ListCase => {
    return { name, family, path: `/computers${path}`, bare: bareList(accountId, 'true', options), check: checkPage };
  };
  const middle = Math.floor(computers / 2000) * 1000;
  const last = Math.max(0, Math.floor((computers * 0.85 - 1000) / 1000) * 1000);
  return [
    walk('page of 1,000', 'page', '', {}),
    walk('limit=1', 'page', '?limit=1', { limit: 1 }),
    walk('root_only=false', 'page', '?root_only=false', { rootOnly: false }),
    walk('archived_only', 'page', '?archived_only=true', { archived: true }),
    walk(`offset ${middle}`, 'offset', `?offset=${middle}`, { offset: middle }),
    walk(`offset ${last}`, 'offset', `?offset=${last}`, { offset: last }),
  ];
}

function selectors(accountId: number): ListCase[] {
  return SELECTORS.map(([text, where, narrow]) => {
    return {
      name: text,
      family: narrow ?? 'selector',
      path: query(text),
      bare: bareList(accountId, where),
      check: checkPage,
    };
  });
}

function blocks(accountId: number): ListCase[] {
  const bare = (chosen: readonly Block[]): BareStatement[] => [
    ...bareList(accountId, 'true'),
    ...chosen.flatMap(({ text }) => (text === null ? [] : [{ text, values: [], takesIds: true }])),
  ];
  const check = (chosen: readonly Block[]): ListCase['check'] => {
    return (page, rows) => {
      checkPage(page, rows);
      const read = chosen.filter(({ text }) => text !== null);
      for (const [index, block] of read.entries()) checkBlock(page, block, rows[3 + index]!);
    };
  };
  // Only Windows hosts have the key of WSL profiles.
  const served = (chosen: readonly Block[]) => (page: Page) =>
    chosen.every(({ key }) => page.results.some((item) => key in item));
  const single = BLOCKS.map((block): ListCase => {
    const path = `/computers?${block.parameter}=true`;
    return {
      name: block.parameter,
      family: 'block',
      path,
      bare: bare([block]),
      isServed: served([block]),
      check: check([block]),
    };
  });
  const every = BLOCKS.filter(({ parameter }) => parameter !== 'with_network');
  const path = `/computers?${BLOCKS.map(({ parameter }) => `${parameter}=true`).join('&')}`;
  return [
    ...single,
    { name: 'with_* all on', family: 'block', path, bare: bare(every), isServed: served(every), check: check(every) },
  ];
}
