import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';

export type OpenBatch = Row<'lane', 'id, wf_id, parent_id'>;

/** The state of a batch for repairs; undefined when there is no such batch. */
export function readBatchState({ em }: Sql, batch: number) {
  const batches = em.getKysely().selectFrom('lane').select(['id', 'wf_id', 'parent_id', 'open_count', 'opened_at']);
  return batches.where('id', '=', batch).executeTakeFirst();
}

/** Whether a group has open operations; false when it does not exist. */
export async function isGroupOpen(db: Sql, group: number): Promise<boolean> {
  return (await readOpenGroups(db, [group])).length > 0;
}

/** Batches of a group with open operations. */
export function readOpenBatchWorkflows(db: Sql, group: number): Promise<OpenBatch[]> {
  return openBatches(db).where('parent_id', '=', group).orderBy('id').execute();
}

/** Batches with open operations among those of some workflows. */
export function readOpenBatchesOf(db: Sql, workflowIds: readonly string[]): Promise<OpenBatch[]> {
  return openBatches(db)
    .where((eb) => eb('wf_id', '=', eb.fn.any(eb.val(workflowIds))))
    .execute();
}

/** Those of some activities that are groups with open operations. */
export async function readOpenGroups({ em }: Sql, activities: readonly number[]): Promise<number[]> {
  const groups = em.getKysely().selectFrom('activity').select('id').where('lane_id', 'is', null);
  const open = groups.where('open_count', '>', 0);
  const rows = await open.where((eb) => eb('id', '=', eb.fn.any(eb.val(activities)))).execute();
  return rows.map(({ id }) => id);
}

/** Batches with open operations that are older than `ageMs`, by id. */
export function readOpenBatchPage(db: Sql, { after, ageMs, limit }: { after: number; ageMs: number; limit: number }) {
  return db.query<OpenBatch>(OPEN_PAGE, { after, ageMs: ageMs / 1000, limit });
}

/** Open batches without progress for `idleMs`: never opened, past due, or with pending events. */
export function readIdleBatches(db: Sql, { after, idleMs, limit }: { after: number; idleMs: number; limit: number }) {
  return db.query<OpenBatch & { opened: boolean }>(IDLE, { idleMs: idleMs / 1000, limit, after });
}

/** Those of some workflows whose batch closed `agoMs` ago or earlier. */
export async function readClosedAmong(db: Sql, workflowIds: readonly string[], agoMs: number): Promise<string[]> {
  const rows = await db.query<{ wf_id: string }>(CLOSED_AMONG, { workflowIds, agoMs: agoMs / 1000 });
  return rows.map(({ wf_id }) => wf_id);
}

const openBatches = ({ em }: Sql) =>
  em.getKysely().selectFrom('lane').select(['id', 'wf_id', 'parent_id']).where('open_count', '>', 0);

const OPEN_PAGE = `
  select id, wf_id, parent_id from lane
  where open_count > 0 and id > :after and closed_at is null and created_at <= now() - make_interval(secs => :ageMs::float8)
  order by id limit :limit`;

// Scans `lane_open`, as events need anyway: with an index on the time, updates of batches would not be HOT.
const IDLE = `
  select l.id, l.wf_id, l.parent_id, l.opened_at is not null as opened from lane l
  where l.id > :after and l.closed_at is null and l.open_count > 0 and l.created_at <= now() - make_interval(secs => :idleMs::float8)
    and (l.opened_at is null or l.next_due_at <= now() - make_interval(secs => :idleMs::float8) or exists (
      select 1 from agent_inbox i where i.lane_id = l.id and i.at <= now() - make_interval(secs => :idleMs::float8)))
  order by l.id limit :limit`;

const CLOSED_AMONG = `
  select wf_id from lane
  where wf_id = any(:workflowIds::text[]) and closed_at <= now() - make_interval(secs => :agoMs::float8)`;
