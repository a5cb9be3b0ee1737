import type { UserDelta } from '../../domain/agents/deltas.ts';
import type { Sql } from '../database/sql.ts';
import { computerIds, jsonKeys, type PerComputer, toColumns } from './per-computer.ts';

/** Saves the deltas of different computers: users in one statement, groups and their members in two more. */
export async function saveUsers(tx: Sql, reports: ReadonlyArray<PerComputer<UserDelta>>): Promise<void> {
  const users = reports.filter(({ value }) => value.resetAll || value.users.size + value.removedUsers.size > 0);
  if (users.length > 0) await saveUserRows(tx, users);
  const groups = reports.filter(({ value }) => value.resetAll || value.groups.size + value.removedGroups.size > 0);
  if (groups.length > 0) await saveGroupRows(tx, groups);
  const changes = reports.flatMap(({ computerId, value: { joins, leaves } }) =>
    [...new Set([...joins.keys(), ...leaves.keys()])].map((group) => ({
      computerId,
      group,
      joins: JSON.stringify([...(joins.get(group) ?? [])]),
      leaves: JSON.stringify([...(leaves.get(group) ?? [])]),
    })),
  );
  if (changes.length === 0) return;
  const values = [
    changes.map(({ computerId }) => computerId),
    changes.map(({ group }) => group),
    changes.map(({ joins }) => joins),
    changes.map(({ leaves }) => leaves),
  ];
  await tx.query(SAVE_MEMBERS, values, 'gateway-save-members');
}

async function saveUserRows(tx: Sql, reports: ReadonlyArray<PerComputer<UserDelta>>): Promise<void> {
  const rows = reports.flatMap(({ computerId, value }) =>
    [...value.users.values()].map((row) => ({ computerId, row })),
  );
  await tx.query(
    SAVE_USERS,
    [
      computerIds(reports),
      reports.map(({ value }) => value.resetAll),
      reports.map(({ value }) => jsonKeys(value.removedUsers)),
      reports.map(({ value }) => jsonKeys(value.users.keys())),
      ...toColumns(rows, 'username', 'uid', 'name', 'enabled', 'location', 'homePhone', 'workPhone', 'primaryGid'),
    ],
    'gateway-save-users',
  );
}

async function saveGroupRows(tx: Sql, reports: ReadonlyArray<PerComputer<UserDelta>>): Promise<void> {
  const rows = reports.flatMap(({ computerId, value }) =>
    [...value.groups.values()].map((row) => ({ computerId, row, reset: value.resetAll })),
  );
  await tx.query(
    SAVE_GROUPS,
    [
      computerIds(reports),
      reports.map(({ value }) => value.resetAll),
      reports.map(({ value }) => jsonKeys(value.removedGroups)),
      reports.map(({ value }) => jsonKeys(value.groups.keys())),
      ...toColumns(rows, 'name', 'gid'),
      rows.map(({ reset }) => reset),
    ],
    'gateway-save-groups',
  );
}

// Unchanged rows are omitted from the insert, which would lock and log each of them.
const SAVE_USERS = `
  with removed as (
    delete from computer_user u using unnest($1::int[], $2::boolean[], $3::jsonb[], $4::jsonb[])
      v(id, reset, removed, present)
    where u.computer_id = v.id and (v.reset or v.removed ? u.username) and not (v.present ? u.username)
  )
  insert into computer_user
    (computer_id, username, uid, name, enabled, location, home_phone, work_phone, primary_gid)
  select r.* from unnest($5::int[], $6::text[], $7::bigint[], $8::text[], $9::boolean[], $10::text[], $11::text[],
      $12::text[], $13::bigint[])
    r(computer_id, username, uid, name, enabled, location, home_phone, work_phone, primary_gid)
    left join computer_user known on known.computer_id = r.computer_id and known.username = r.username
  where known.computer_id is null
    or (known.uid, known.name, known.enabled, known.location, known.home_phone, known.work_phone, known.primary_gid)
      is distinct from (r.uid, r.name, r.enabled, r.location, r.home_phone, r.work_phone, r.primary_gid)
  on conflict (computer_id, username) do update set uid = excluded.uid, name = excluded.name,
    enabled = excluded.enabled, location = excluded.location, home_phone = excluded.home_phone,
    work_phone = excluded.work_phone, primary_gid = excluded.primary_gid`;

const SAVE_GROUPS = `
  with removed as (
    delete from computer_group g using unnest($1::int[], $2::boolean[], $3::jsonb[], $4::jsonb[])
      v(id, reset, removed, present)
    where g.computer_id = v.id and (v.reset or v.removed ? g.name) and not (v.present ? g.name)
  )
  insert into computer_group (computer_id, name, gid, members)
  select r.computer_id, r.name, r.gid, case when r.reset then '{}' else coalesce(known.members, '{}') end
  from unnest($5::int[], $6::text[], $7::bigint[], $8::boolean[]) r(computer_id, name, gid, reset)
    left join computer_group known on known.computer_id = r.computer_id and known.name = r.name
  where known.computer_id is null or known.gid is distinct from r.gid or (r.reset and known.members <> '{}')
  on conflict (computer_id, name) do update set gid = excluded.gid, members = excluded.members`;

const SAVE_MEMBERS = `
  update computer_group g set members = array(
    select distinct member from (
      select unnest(g.members) as member union select jsonb_array_elements_text(c.joins)
    ) m where not (c.leaves ? member) order by member)
  from unnest($1::int[], $2::text[], $3::jsonb[], $4::jsonb[]) c(computer_id, name, joins, leaves)
  where g.computer_id = c.computer_id and g.name = c.name`;
