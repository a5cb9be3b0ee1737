import { ADMINISTRATOR_ROLE, STANDALONE_ACCOUNT } from '../../domain/identity/permissions.ts';
import type { Sql } from '../database/sql.ts';

interface TokenOwner {
  personId: number;
  accountName: string;
  /** Of the token and of its session. */
  tokenIds: readonly string[];
  accessKey: string | null;
}

const TOKEN_REVOKED = `(exists (select from revoked_token where token_id = any(:tokenIds::text[]))
    or (:accessKey::text is not null and not exists (select from credential where access_key = :accessKey and person_id = :personId)))`;

const IS_OPERATOR = `(operator and exists (
    select from membership_role m join role r on r.id = m.role_id join account a on a.id = m.account_id
    where m.person_id = person.id and a.name = '${STANDALONE_ACCOUNT}' and r.name = '${ADMINISTRATOR_ROLE}'))`;

export interface RightsRow {
  email: string;
  name: string;
  token_revoked: boolean;
  person_epoch: number;
  system_epoch: number;
  account_id: number | null;
  account_epoch: number;
  /** Number of the membership: a person who is removed and rejoins gets a new one. */
  membership: number | null;
  account_disabled: boolean;
  global_permissions: string[];
  group_permissions: Array<{ permissions: string[]; groups: number[] | null }>;
}

/** In one statement. A permission holds in its role's groups and below; on the root group it covers the account. */
export async function findRights(sql: Sql, of: TokenOwner): Promise<RightsRow | null> {
  const rows = await sql.query<RightsRow>(FIND_RIGHTS, of, 'rights');
  return rows[0] ?? null;
}

/** Access groups, with descendants, where a person holds roles with ManageRole; null is everywhere. */
export async function findRoleReach(sql: Sql, of: { personId: number; accountId: number }) {
  const [row] = await sql.query<{ everywhere: boolean; groups: number[] }>(FIND_ROLE_REACH, of);
  return row!.everywhere ? null : row!.groups;
}

const FIND_ROLE_REACH = `
  with recursive reach (group_id, is_root) as (
    select g.id, g.parent_id is null
    from membership_role mr join role r on r.id = mr.role_id and 'ManageRole' = any(r.global_permissions)
    join role_access_group rg on rg.role_id = r.id join access_group g on g.id = rg.access_group_id
    where mr.person_id = :personId and mr.account_id = :accountId
    union
    select g.id, false from reach join access_group g on g.parent_id = reach.group_id where not reach.is_root
  )
  select coalesce(bool_or(is_root), false) as everywhere, coalesce(array_agg(group_id), '{}') as groups from reach`;

const FIND_RIGHTS = `
with recursive member as (
  select m.account_id, m.person_id, m.number from membership m join account a on a.id = m.account_id
  where m.person_id = :personId and a.name = :accountName
), held as (
  select r.id, r.permissions, r.global_permissions
  from member m
  join membership_role mr on mr.account_id = m.account_id and mr.person_id = m.person_id
  join role r on r.id = mr.role_id and r.account_id = m.account_id
), reach (role_id, group_id, is_root) as (
  select h.id, g.id, g.parent_id is null
  from held h join role_access_group rg on rg.role_id = h.id join access_group g on g.id = rg.access_group_id
  union
  select reach.role_id, g.id, false from reach join access_group g on g.parent_id = reach.group_id
  where not reach.is_root
)
select p.email, p.name, p.token_epoch as person_epoch,
  ${TOKEN_REVOKED} as token_revoked,
  (select value::int from system_setting where key = 'token_epoch') as system_epoch,
  a.id as account_id, m.number as membership, coalesce(a.token_epoch, 0) as account_epoch, coalesce(a.disabled, false) as account_disabled,
  coalesce((select array_agg(distinct perm) from held, unnest(held.global_permissions) perm), '{}') as global_permissions,
  coalesce((
    select jsonb_agg(jsonb_build_object('permissions', held.permissions, 'groups', r.groups))
    from held join (
      select role_id, case when bool_or(is_root) then null else array_agg(group_id) end as groups from reach group by role_id
    ) r on r.role_id = held.id), '[]') as group_permissions
from person p left join member m on m.person_id = p.id left join account a on a.id = m.account_id
where p.id = :personId`;

export interface LockedPerson {
  name: string;
  /** Created the first account, and still administers it. */
  operator: boolean;
  token_revoked: boolean;
  token_epoch: number;
  system_epoch: number;
  account_epoch: number | null;
}

/** Whether a person may act on the whole system. */
export async function isOperator(sql: Sql, personId: number): Promise<boolean> {
  const rows = await sql.query<{ operator: boolean }>(
    `select ${IS_OPERATOR} as operator from person where id = :personId`,
    { personId },
  );
  return rows[0]?.operator ?? false;
}

/** A person's row with what ends a token, locked until the transaction ends. */
export async function lockPerson(tx: Sql, of: TokenOwner): Promise<LockedPerson | null> {
  const rows = await tx.query<LockedPerson>(
    `select name, token_epoch,
       ${IS_OPERATOR} as operator,
       ${TOKEN_REVOKED} as token_revoked,
       (select value::int from system_setting where key = 'token_epoch') as system_epoch,
       (select token_epoch from account where name = :accountName) as account_epoch
     from person where id = :personId for update`,
    of,
  );
  return rows[0] ?? null;
}
