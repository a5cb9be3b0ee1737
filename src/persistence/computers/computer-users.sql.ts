import { containing, type Sql } from '../database/sql.ts';
import type { PageRequest } from '../database/page.ts';

type ComputerUserRow = {
  username: string;
  name: string | null;
  uid: number | null;
  primary_gid: number | null;
  groups: string[];
  enabled: boolean;
  location: string | null;
  home_phone: string | null;
  work_phone: string | null;
};

/** One page of the users of a computer by user name, with their groups, and the number of all. */
export async function listComputerUsers(db: Sql, computer: number, search: string, page: PageRequest) {
  const filter = { computer, search: search === '' ? null : containing(search) };
  const [counted, rows] = await Promise.all([
    db.query<{ count: number }>(COUNT, filter),
    db.query<ComputerUserRow>(USERS, { ...filter, ...page }),
  ]);
  return { count: counted[0]!.count, rows };
}

const FOUND = `u.computer_id = :computer and (:search::text is null or u.username ilike :search or u.name ilike :search)`;

const COUNT = `select count(*)::int as count from computer_user u where ${FOUND}`;

// Groups of a directory may be as many as its users: they are read once, not for each user.
const USERS = `
  with page as materialized (
    select u.* from computer_user u where ${FOUND} order by u.username limit :limit offset :offset
  ), member as (
    select p.username, g.name
    from computer_group g cross join unnest(g.members) as m(username) join page p on p.username = m.username
    where g.computer_id = :computer
    union
    select p.username, g.name
    from page p join computer_group g on g.computer_id = :computer and g.gid = p.primary_gid
  ), membership as (
    select username, array_agg(name order by name) as groups from member group by username
  )
  select p.username, p.name, p.uid, p.primary_gid, coalesce(m.groups, '{}') as groups, p.enabled, p.location,
    p.home_phone, p.work_phone
  from page p left join membership m on m.username = p.username
  order by p.username`;
