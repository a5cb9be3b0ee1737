import type { Sql } from '../database/sql.ts';

export interface OpenBatch {
  id: number;
  wf_id: string;
  parent_id: number | null;
}

/** The state of a batch for repairs; undefined when there is no such batch. */
export async function readBatchState(
  db: Sql,
  batch: number,
): Promise<(OpenBatch & { open_count: number; opened: boolean }) | undefined> {
  const [row] = await db.query<OpenBatch & { open_count: number; opened: boolean; [key: string]: unknown }>(
    'select id, wf_id, parent_id, open_count, opened_at is not null as opened from lane where id = :batch',
    { batch },
  );
  return row;
}

export async function isGroupOpen(db: Sql, group: number): Promise<boolean> {
  return (await db.query('select 1 from activity where id = :group and open_count > 0', { group })).length > 0;
}

/** Batches of a group with open operations. */
export function readOpenBatchWorkflows(db: Sql, group: number): Promise<Array<{ id: number; wf_id: string }>> {
  return db.query('select id, wf_id from lane where parent_id = :group and open_count > 0 order by id', { group });
}

/** Batches with open operations among those of some workflows. */
export function readOpenBatchesOf(db: Sql, workflowIds: readonly string[]): Promise<OpenBatch[]> {
  return db.query<OpenBatch>(
    'select id, wf_id, parent_id from lane where wf_id = any(:workflowIds::text[]) and open_count > 0',
    { workflowIds },
  );
}

/** Those of some activities that are groups with open operations. */
export async function readOpenGroups(db: Sql, activities: readonly number[]): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    'select id from activity where id = any(:activities::int[]) and lane_id is null and open_count > 0',
    { activities },
  );
  return rows.map(({ id }) => id);
}

/** Batches with open operations that are older than `ageMs`, by id. */
export function readOpenBatchPage(
  db: Sql,
  { after, ageMs, limit }: { after: number; ageMs: number; limit: number },
): Promise<OpenBatch[]> {
  return db.query<OpenBatch>(OPEN_PAGE, { after, ageMs: ageMs / 1000, limit });
}

/** Open batches without progress for `idleMs`: never opened, past due, or with pending events. */
export function readIdleBatches(
  db: Sql,
  { after, idleMs, limit }: { after: number; idleMs: number; limit: number },
): Promise<Array<OpenBatch & { opened: boolean }>> {
  return db.query<OpenBatch & { opened: boolean; [key: string]: unknown }>(IDLE, {
    idleMs: idleMs / 1000,
    limit,
    after,
  });
}

/** Those of some workflows whose batch closed `agoMs` ago or earlier. */
export async function readClosedAmong(db: Sql, workflowIds: readonly string[], agoMs: number): Promise<string[]> {
  const rows = await db.query<{ wf_id: string }>(CLOSED_AMONG, { workflowIds, agoMs: agoMs / 1000 });
  return rows.map(({ wf_id }) => wf_id);
}

const OPEN_PAGE = `
  select id, wf_id, parent_id from lane
  where id > :after and closed_at is null and open_count > 0 and created_at <= now() - make_interval(secs => :ageMs::float8)
  order by id limit :limit`;

// Scans `lane_open`, which the events need anyway and which includes the time. An index on it would make every update
// of a batch slower: updates of indexed columns are not HOT.
const IDLE = `
  select l.id, l.wf_id, l.parent_id, l.opened_at is not null as opened from lane l
  where l.id > :after and l.closed_at is null and l.open_count > 0 and l.created_at <= now() - make_interval(secs => :idleMs::float8)
    and (l.opened_at is null or l.next_due_at <= now() - make_interval(secs => :idleMs::float8) or exists (
      select 1 from agent_inbox i where i.lane_id = l.id and i.at <= now() - make_interval(secs => :idleMs::float8)))
  order by l.id limit :limit`;

const CLOSED_AMONG = `
  select wf_id from lane
  where wf_id = any(:workflowIds::text[]) and closed_at <= now() - make_interval(secs => :agoMs::float8)`;
