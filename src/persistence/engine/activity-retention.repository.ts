import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import { blocksOf, forgetEmptyBlocks } from '../activities/activity-blocks.ts';
import type { Database, Sql } from '../database/sql.ts';
import { statusList } from '../database/status-sql.ts';
import { deleteUnnamedAttachments, lockScriptsOfPayloads } from '../scripts/script-attachments.repository.ts';

/** A place among the activities without a parent, by age. */
export interface AgeCursor {
  /** ISO 8601 with microseconds, as the database says it. */
  createdAt: string;
  id: number;
}

/** What one step looks for. */
export interface RetentionStep {
  /** What ended before this moment goes. */
  before: Date;
  /** Where the step before stopped; null to begin with the oldest. */
  after: AgeCursor | null;
  /** Activities without a parent to look at. */
  scan: number;
  /** Rows to remove at most; one group goes whole whatever its size. */
  rows: number;
}

interface Candidate {
  id: number;
  created_at: string;
  size: number;
  due: boolean;
  [key: string]: unknown;
}

/**
 * Removes some old activities: groups with all their operations, operations that are in no group, each with payloads,
 * messages, lanes, partial results and the replaced files of scripts that nothing else names. In one transaction.
 *
 * Kept is what has not ended, or ended later; what a computer has and may still answer; the latest run of every
 * profile; and what undid an activity that is still there.
 *
 * @returns how many rows of activities went, and where the next step begins; null when all were looked at
 * @remarks Safe to repeat and to run twice at once.
 */
export async function forgetActivities(
  db: Database,
  step: RetentionStep,
): Promise<{ gone: number; next: AgeCursor | null }> {
  const candidates = await db.query<Candidate>(CANDIDATES, [
    step.before,
    step.after?.createdAt ?? '-infinity',
    step.after?.id ?? 0,
    step.scan,
  ]);
  const looked = withinRows(candidates, step.rows);
  const due = looked.filter((candidate) => candidate.due).map(({ id }) => id);
  const gone = due.length === 0 ? 0 : await db.transaction((tx) => remove(tx, due, step.before));
  const last = looked.at(-1);
  const more = looked.length < candidates.length || candidates.length === step.scan;
  return { gone, next: more && last ? { createdAt: last.created_at, id: last.id } : null };
}

/** The first candidates, up to so many rows that are due; one at least. */
function withinRows(candidates: readonly Candidate[], rows: number): readonly Candidate[] {
  let size = 0;
  const end = candidates.findIndex((candidate, place) => {
    size += candidate.due ? candidate.size : 0;
    return place > 0 && size > rows;
  });
  return end < 0 ? candidates : candidates.slice(0, end);
}

interface Doomed {
  ids: number[];
  lanes: number[];
  payloads: number[];
  origins: number[];
}

/** @returns how many rows went: those that are still due once nobody else can touch them */
async function remove(tx: Sql, candidates: readonly number[], before: Date): Promise<number> {
  await tx.query(LOCK_LANES, [candidates]);
  const roots = await tx.query<{ id: number }>(STILL_DUE, [before, candidates]);
  if (roots.length === 0) return 0;
  const [doomed] = await tx.query<Doomed & Record<string, unknown>>(DOOMED, [roots.map(({ id }) => id)]);
  const { ids, lanes, payloads, origins } = doomed!;
  // Before rows of other activities are written, as whoever repeats one locks its script first.
  const scripts = await lockScriptsOfPayloads(tx, payloads);
  for (const table of RESULTS) await tx.query(`delete from ${table} where activity_id = any($1::int[])`, [ids]);
  await tx.query('delete from lane where id = any($1::int[])', [lanes]);
  await tx.query('delete from operation_payload where id = any($1::bigint[])', [payloads]);
  if (scripts.length > 0) await deleteUnnamedAttachments(tx, scripts);
  const blocks = await blocksOf(tx, ids);
  await tx.query('delete from activity where id = any($1::int[])', [ids]);
  await forgetEmptyBlocks(tx, blocks);
  await tx.query('update activity set reapplied_from = null where reapplied_from = any($1::int[])', [ids]);
  await tx.query('update activity set reverts = null where reverts = any($1::int[])', [ids]);
  await tx.query(
    'update activity set reapplied_by = null where id = any($2::int[]) and reapplied_by = any($1::int[])',
    [ids, origins],
  );
  return ids.length;
}

/** What is kept by the id of an operation. */
const RESULTS = ['agent_message', 'package_change_result', 'snap_operation_before', 'usg_audit_report'] as const;

/** Runs of profiles: the latest one that did something goes on being told of. */
const RUNS = ['usg_run', 'script_profile_run'] as const;

const latestRun = (runs: string) => `
  exists (
    select from ${runs} r where r.activity_id = a.id and not exists (
      select from ${runs} n where n.profile_id = r.profile_id and n.activity_id is not null
        and (n.started_at, n.id) > (r.started_at, r.id)))`;

// Operations of a group, or the one that is in none: as two lookups, because an index serves either but not both at once.
const anyRow = (found: (condition: string) => string) => `(${found('k.parent_id = a.id')} or ${found('k.id = a.id')})`;

const DUE = `(
  a.completion_time < $1 and a.status in ${statusList(FINAL_STATUSES)} and a.open_count = 0
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

// Cut off first: PostgreSQL would think of the conditions of all that are old, and prepare them for as many.
const CANDIDATES = `
  with candidate as materialized (
    select id, lane_id, status, open_count, completion_time, creation_time, children_count
    from activity
    where parent_id is null and creation_time < $1 and (creation_time, id) > ($2::timestamptz, $3::int)
    order by creation_time, id limit $4)
  select a.id, to_char(a.creation_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at,
    a.children_count + 1 as size, ${DUE} as due
  from candidate a order by a.creation_time, a.id`;

const LOCK_LANES = `
  select id from lane
  where parent_id = any($1::int[]) or id in (select lane_id from activity where id = any($1::int[]))
  order by id for update`;

const STILL_DUE = `select a.id from activity a where a.id = any($2::int[]) and ${DUE} order by a.id for update`;

const DOOMED = `
  with doomed as (
    select id, lane_id, payload_id, reapplied_from from activity where id = any($1::int[])
    union all
    select id, lane_id, payload_id, reapplied_from from activity where parent_id = any($1::int[])
  )
  select array_agg(id) as ids, coalesce(array_agg(distinct lane_id) filter (where lane_id is not null), '{}') as lanes,
    coalesce(array_agg(distinct payload_id) filter (where payload_id is not null), '{}') as payloads,
    coalesce(array_agg(reapplied_from) filter (where reapplied_from is not null), '{}') as origins
  from doomed`;
