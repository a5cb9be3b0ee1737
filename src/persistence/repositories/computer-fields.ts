/** SQL of a moment as answers show it. */
const time = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** The columns of a computer `c` that every list, parent, child and detail shows. @see api-decisions 7.1 */
export const FIELDS = `
  c.id, c.title, c.comment, c.hostname, c.total_memory, c.total_swap,
  c.reboot_required as reboot_required_flag, coalesce(c.update_manager_prompt, '') as update_manager_prompt, c.clone_id,
  ${time('contact.last_exchange_time')} as last_exchange_time, ${time('contact.last_ping_time')} as last_ping_time,
  (select coalesce(array_agg(tag order by tag), '{}') from unnest(c.tags) tag) as tags,
  g.name as access_group, c.distribution, c.distribution_info, c.cloud_instance_metadata, c.cloud_init,
  c.vm_info, c.container_info, c.distro_pro_info, c.is_wsl as is_wsl_instance, c.archived, c.employee_id,
  ${time('c.registered_at')} as registered_at`;

/** What {@link FIELDS} are read from, for the ids of a relation. */
export function fromComputers(ids: string): string {
  return `${ids} join computer c on c.id = ${ids}.id join access_group g on g.id = c.access_group_id
    left join computer_contact contact on contact.computer_id = c.id`;
}

/** Computers `c` of an account ($1) in access groups ($2, null for all) that people have let in. */
export const VISIBLE = `c.account_id = $1 and c.state = 'approved' and ($2::int[] is null or c.access_group_id = any($2))`;

/** Parents and children of the rows of `page`, each once, found by index; archived and unseen ones are left out. */
export const FAMILY = `
  relative as (
    select k.id from page join computer k on k.parent_id = page.id
    union
    select p.parent_id from page join computer p on p.id = page.id where p.parent_id is not null
  ), member as materialized (
    select c.id as member_id, c.parent_id as of, c.is_default_child as is_default, row_to_json(fields) as body
    from ${fromComputers('relative')} cross join lateral (select ${FIELDS}) fields
    where ${VISIBLE} and not c.archived
  ), kids as (
    select member.of, json_agg(member.body order by member_id) as children,
      (json_agg(json_build_object('id', member_id, 'title', body->'title', 'hostname', body->'hostname')
        order by member_id) filter (where is_default))->0 as default_child
    from member where member.of in (select id from page) group by member.of
  )`;

/** The columns that tell the family of `c`, of {@link FAMILY_JOINS}. */
export const FAMILY_FIELDS = `
  coalesce(kids.children, '[]'::json) as children, parent.body as parent, kids.default_child,
  case when c.is_wsl then coalesce(c.is_default_child, false) end as is_default_child`;

export const FAMILY_JOINS = `left join kids on kids.of = c.id left join member parent on parent.member_id = c.parent_id`;

/** Whether `c` is a Windows computer that has WSL instances or may have them. */
export const IS_WSL_HOST = '(c.hostagent_uid is not null and not c.is_wsl)';
