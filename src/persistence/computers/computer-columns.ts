import { REGISTERED_COLUMNS, REPORTED_COLUMNS } from './computer.entity.ts';

interface Aliases {
  computer: string;
  group: string;
  contact: string;
}

const ITEM: Aliases = { computer: 'c', group: 'g', contact: 'contact' };
const CHILD: Aliases = { computer: 'k', group: 'k_group', contact: 'k_contact' };
const PARENT: Aliases = { computer: 'p', group: 'p_group', contact: 'p_contact' };

const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** What agents report is in every item, except columns for details, blocks and conditions, and those of another form. */
const ELSEWHERE = new Set([
  'machine_id',
  'reboot_required',
  'reboot_packages',
  'update_manager_prompt',
  'hotpatch_info',
  'distro_pro_reboot_required_info',
]);
const LISTED = REPORTED_COLUMNS.filter((column) => !ELSEWHERE.has(column));

/** An empty text is null in responses. */
export const registeredInfo = (c: string) =>
  REGISTERED_COLUMNS.map((column) => `nullif(${c}.${column}, '') as ${column}`).join(', ');

/** The columns of every list, parent, child and detail. @see docs/api-conventions.md#computer-fields */
const fieldsOf = ({ computer: c, group, contact }: Aliases) => `
  ${c}.id, ${c}.title, ${c}.comment, ${LISTED.map((column) => `${c}.${column}`).join(', ')},
  ${c}.reboot_required as reboot_required_flag, coalesce(${c}.update_manager_prompt, '') as update_manager_prompt, ${c}.clone_id,
  ${time(`${contact}.last_exchange_time`)} as last_exchange_time, ${time(`${contact}.last_ping_time`)} as last_ping_time,
  (select coalesce(array_agg(tag order by tag), '{}') from unnest(${c}.tags) tag) as tags,
  ${group}.name as access_group, ${registeredInfo(c)},
  ${c}.is_wsl as is_wsl_instance, ${c}.archived, ${c}.employee_id, ${time(`${c}.registered_at`)} as registered_at`;

const joinsOf = ({ computer: c, group, contact }: Aliases) => `
  join access_group ${group} on ${group}.id = ${c}.access_group_id
  left join computer_contact ${contact} on ${contact}.computer_id = ${c}.id`;

const visible = (c: string) =>
  `${c}.account_id = :accountId and ${c}.state = 'approved'
    and (:groups::int[] is null or ${c}.access_group_id = any(:groups))`;

/** Accepted computers `c` of an account (`:accountId`) in access groups (`:groups`, null for all). */
export const VISIBLE = visible(ITEM.computer);

// `offset 0` is a fence: without statistics the planner would read the account's computers for each one of the page.
const relatives = (aliases: Aliases, columns: string, which: string) => `
  select ${columns}row_to_json(shown) as body
  from (select * from computer where ${which} offset 0) ${aliases.computer} ${joinsOf(aliases)}
  cross join lateral (select ${fieldsOf(aliases)}) shown
  where ${visible(aliases.computer)} and not ${aliases.computer}.archived`;

/** Sources of {@link FIELDS}: `c` with its parent and children, except archived and invisible ones. */
export const JOINS = `${joinsOf(ITEM)}
  left join lateral (
    select json_agg(kid.body order by kid.id) as children,
      (json_agg(json_build_object('id', kid.id, 'title', kid.title, 'hostname', kid.hostname) order by kid.id)
        filter (where kid.is_default_child))->0 as default_child
    from (${relatives(CHILD, 'k.id, k.title, k.hostname, k.is_default_child, ', 'parent_id = c.id')}) kid
  ) kids on true
  left join lateral (${relatives(PARENT, '', 'id = c.parent_id')}) parent on true`;

export const FIELDS = `${fieldsOf(ITEM)},
  coalesce(kids.children, '[]'::json) as children, parent.body as parent, kids.default_child,
  case when c.is_wsl then coalesce(c.is_default_child, false) end as is_default_child`;

export const DETAILS = `, c.hotpatch_info, c.distro_pro_reboot_required_info,
  coalesce(json_array_length(kids.children), 0) as num_child,
  (select i.packages_requested from computer_inventory i where i.computer_id = c.id) as packages_reported`;

/** Whether `c` is a Windows computer that has or may have WSL instances. */
export const IS_WSL_HOST = '(c.hostagent_uid is not null and not c.is_wsl)';
