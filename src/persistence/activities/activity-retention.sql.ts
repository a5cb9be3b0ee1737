import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { statusList } from '../database/status-sql.ts';

export interface AgeCursor {
  /** ISO 8601 with microseconds, as the database writes it. */
  createdAt: string;
  id: number;
}

export interface RetentionCandidate extends AgeCursor {
  size: number;
  due: boolean;
}

interface ExpiredRows {
  ids: number[];
  batches: number[];
  payloads: number[];
  origins: number[];
}

/** The oldest parents. Not due: open, ended later, awaiting results, latest runs, reverts of what still exists. */
export function readRetentionCandidates(db: Sql, before: Date, after: AgeCursor | null, limit: number) {
  const { createdAt, id } = after ?? { createdAt: '-infinity', id: 0 };
  return db.query<RetentionCandidate>(CANDIDATES, { before, createdAt, id, limit });
}

/** Locks those of some activities that may still be deleted, until the transaction ends. */
export async function lockExpired(tx: Sql, activities: readonly number[], before: Date): Promise<number[]> {
  await tx.query(LOCK_BATCHES, { activities });
  const rows = await tx.query<{ id: number }>(STILL_DUE, { before, activities });
  return rows.map(({ id }) => id);
}

/** The rows to delete with some groups or single operations: with children, batches, payloads. */
export async function readExpiredRows(tx: Sql, activities: readonly number[]): Promise<ExpiredRows> {
  const [row] = await tx.query<ExpiredRows>(EXPIRED_ROWS, { activities });
  return row!;
}

/** Deletes results, batches and payloads; then {@link deleteActivities}. */
export async function deleteParts(tx: Sql, { ids, batches, payloads }: ExpiredRows): Promise<void> {
  for (const table of RESULTS) await tx.query(`delete from ${table} where activity_id = any(:ids::int[])`, { ids });
  await tx.query('delete from lane where id = any(:batches::int[])', { batches });
  await tx.query('delete from operation_payload where id = any(:payloads::bigint[])', { payloads });
}

/** Deletes activities whose parts are deleted, and references to them. */
export async function deleteActivities(tx: Sql, { ids, origins }: ExpiredRows): Promise<void> {
  await tx.query('delete from activity where id = any(:ids::int[])', { ids });
  await tx.query('update activity set reapplied_from = null where reapplied_from = any(:ids::int[])', { ids });
  await tx.query('update activity set reverts = null where reverts = any(:ids::int[])', { ids });
  await tx.query(UNLINK_REPETITIONS, { ids, origins });
}

const RESULTS = ['agent_message', 'package_change_result', 'snap_operation_before', 'usg_audit_report'] as const;

const RUNS = ['usg_run', 'script_profile_run'] as const;

const latestRun = (runs: string) => `
  exists (
    select from ${runs} r where r.activity_id = a.id and not exists (
      select from ${runs} n where n.profile_id = r.profile_id and n.activity_id is not null
        and (n.started_at, n.id) > (r.started_at, r.id)))`;

// Operations of a group, or a single one: two look-ups, because no index serves both.
const anyRow = (found: (condition: string) => string) => `(${found('k.parent_id = a.id')} or ${found('k.id = a.id')})`;

const DUE = `(
  a.completion_time < :before and a.status in ${statusList(FINAL_STATUSES)} and a.open_count = 0
  and not exists (select from lane l where l.parent_id = a.id and l.closed_at is null)
  and not exists (select from lane l where l.id = a.lane_id and l.closed_at is null)
  and not exists (select from agent_inbox i join lane l on l.id = i.lane_id where l.parent_id = a.id)
  and not exists (select from agent_inbox i where i.lane_id = a.lane_id)
  and not ${anyRow(
    (condition) => `exists (
    select from activity k join agent_message m on m.activity_id = k.id
    where ${condition} and m.state in ('held', 'queued', 'sent'))`,
  )}
  and not ${anyRow(
    (condition) => `exists (
    select from activity k join activity o on o.id = k.reverts where ${condition})`,
  )}
  and not ${RUNS.map(latestRun).join('\n  and not ')})`;

// Limited first: PostgreSQL would otherwise plan the conditions for all old activities.
const CANDIDATES = `
  with candidate as materialized (
    select id, lane_id, status, open_count, completion_time, creation_time, children_count
    from activity
    where parent_id is null and creation_time < :before and (creation_time, id) > (:createdAt::timestamptz, :id::int)
    order by creation_time, id limit :limit)
  select a.id, to_char(a.creation_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "createdAt",
    a.children_count + 1 as size, ${DUE} as due
  from candidate a order by a.creation_time, a.id`;

const LOCK_BATCHES = `
  select id from lane
  where parent_id = any(:activities::int[]) or id in (select lane_id from activity where id = any(:activities::int[]))
  order by id for update`;

const STILL_DUE = `select a.id from activity a where a.id = any(:activities::int[]) and ${DUE} order by a.id for update`;

const EXPIRED_ROWS = `
  with expired as (
    select id, lane_id, payload_id, reapplied_from from activity where id = any(:activities::int[])
    union all
    select id, lane_id, payload_id, reapplied_from from activity where parent_id = any(:activities::int[])
  )
  select array_agg(id) as ids, coalesce(array_agg(distinct lane_id) filter (where lane_id is not null), '{}') as batches,
    coalesce(array_agg(distinct payload_id) filter (where payload_id is not null), '{}') as payloads,
    coalesce(array_agg(reapplied_from) filter (where reapplied_from is not null), '{}') as origins
  from expired`;

const UNLINK_REPETITIONS = `
  update activity set reapplied_by = null where id = any(:origins::int[]) and reapplied_by = any(:ids::int[])`;

type ActivityBlock = Row<'activity_block', 'account_id, block'>;

/** Blocks of 4,096 ids that contain some activities. */
export async function blocksOf(tx: Sql, activities: readonly number[]): Promise<ActivityBlock[]> {
  return tx.query<ActivityBlock>(
    'select distinct account_id, id >> 12 as block from activity where id = any(:activities::int[])',
    { activities },
  );
}

/** Deletes empty blocks, except recent ones: rows being added to them may not be visible yet. Idempotent. */
export async function deleteEmptyBlocks(tx: Sql, blocks: readonly ActivityBlock[]): Promise<void> {
  await tx.query(DELETE_EMPTY, {
    accounts: blocks.map(({ account_id }) => account_id),
    blocks: blocks.map(({ block }) => block),
  });
}

/** Blocks behind the newest activity that a transaction of any length could still be adding to. */
const RECENT_BLOCKS = 100;

const DELETE_EMPTY = `
  delete from activity_block b
  where b.block < (select max(id) >> 12 from activity) - ${RECENT_BLOCKS}
    and (b.account_id, b.block) in (
      select k.account_id, k.block from unnest(:accounts::int[], :blocks::int[]) as requested(account_id, block)
      join activity_block k using (account_id, block)
      group by k.account_id, k.block having sum(k.activities) = 0)`;
