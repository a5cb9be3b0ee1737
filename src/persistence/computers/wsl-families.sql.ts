import type { Sql } from '../database/sql.ts';
import type { AcceptedComputer } from './pending-computers.sql.ts';

/** Links WSL instances and hosts among accepted computers. Idempotent. As in WSL, a host's first is its default. */
export async function joinFamilies(tx: Sql, accountId: number, accepted: readonly AcceptedComputer[]): Promise<void> {
  const uids = new Set(accepted.flatMap(({ hostagent_uid }) => hostagent_uid ?? []));
  if (uids.size === 0) return;
  // Serialized per host, or two instances could both become its default.
  for (const uid of [...uids].sort()) {
    await tx.query('select pg_advisory_xact_lock(hashtextextended(:uid, :accountId))', { uid, accountId });
  }
  const ids = accepted.map(({ id }) => id);
  await tx.query(ADOPT_INSTANCES, { accountId, ids });
  await tx.query(ATTACH_TO_HOSTS, { accountId, ids });
}

// Found before filtering, by arrays: without statistics PostgreSQL would scan the whole fleet or join rows with it.
const member = (uids: string) => `member as materialized (
    select id, hostagent_uid, is_wsl, is_default_child, state = 'approved' and not archived as in_fleet from computer
    where account_id = :accountId and hostagent_uid is not null and hostagent_uid = any(array(select hostagent_uid from ${uids}))
  )`;

const ADOPT_INSTANCES = `
  with newcomer as materialized (
    select hostagent_uid from computer where id = any(:ids::int[]) and not is_wsl and hostagent_uid is not null
  ), ${member('newcomer')}
  update computer c
  set parent_id = (
    select max(h.id) from member h where h.hostagent_uid = c.hostagent_uid and not h.is_wsl and h.in_fleet)
  where c.id = any(array(select id from member where is_wsl and in_fleet))`;

const ATTACH_TO_HOSTS = `
  with newcomer as materialized (
    select id, hostagent_uid, row_number() over (partition by hostagent_uid order by id) as place
    from computer where id = any(:ids::int[]) and is_wsl and hostagent_uid is not null
  ), ${member('newcomer')}, family as materialized (
    select hostagent_uid, max(id) filter (where not is_wsl) as host,
      coalesce(bool_or(is_default_child) filter (where is_wsl and id <> all(:ids::int[])), false) as has_default
    from member where in_fleet
    group by hostagent_uid
  )
  update computer c
  set (parent_id, is_default_child) = (
    select f.host, n.place = 1 and not f.has_default
    from newcomer n join family f using (hostagent_uid) where n.id = c.id)
  where c.id = any(array(select id from newcomer))`;
