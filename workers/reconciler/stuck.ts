import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { activityWorkflowId } from '../../workflows/contracts/activity.contract.ts';
import type { Repair, RepairDeps } from '../relay/repair.ts';
import { readActivities, readLanes } from '../relay/starter.ts';

/** Looked at in one run; the next one goes on with what is left. */
const MOST_LOOKS = 20;
/** A task that a worker lost is tried again once or twice; one that fails every time is tried for ever. */
const HOPELESS_ATTEMPT = 3;

interface StillLane {
  id: number;
  wf_id: string;
  parent_id: number | null;
  opened: boolean;
  [key: string]: unknown;
}

/**
 * Starts workflows anew that run and cannot move: their input cannot be read, or the code does not fit their history.
 * The rows hold all there is to know, so that the new run goes on where the old one stood.
 *
 * @see perf-reliability B4, row 24
 */
export async function repairStuck(deps: RepairDeps, settleMs: number): Promise<Repair[]> {
  const lanes = await deps.db.query<StillLane>(STILL_LANES, [settleMs / 1000, MOST_LOOKS]);
  const repairs: Repair[] = [];
  const groups = new Set(lanes.flatMap(({ parent_id: parent }) => (parent === null ? [] : [parent])));
  for (const id of groups) {
    if (!(await isHopeless(deps.client, activityWorkflowId(id)))) continue;
    const [group] = await readActivities(deps.db, [id]);
    if (group) repairs.push(await startAnew(deps, group));
  }
  for (const { id, wf_id, opened, parent_id } of lanes) {
    if ((!opened && parent_id !== null) || !(await isHopeless(deps.client, wf_id))) continue;
    const [lane] = await readLanes(deps.db, [id]);
    if (lane) repairs.push(await startAnew(deps, lane));
  }
  return repairs;
}

async function startAnew(deps: RepairDeps, row: Parameters<RepairDeps['starter']['start']>[0]): Promise<Repair> {
  await deps.starter.start(row, 'instead');
  deps.logger.error({ workflowId: row.workflowId }, 'workflow could not go on: started anew');
  return 'restarted';
}

async function isHopeless(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { raw, status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' && (raw.pendingWorkflowTask?.attempt ?? 0) >= HOPELESS_ATTEMPT;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Open lanes that did nothing for so long: never opened, with a moment that has passed, or with news that lies.
 *
 * A walk along `lane_open`, which the news needs in any case and in which the moment costs no further look. An index on
 * it would make every move of a lane dearer: no update of a column with an index is a HOT one.
 */
const STILL_LANES = `
  select l.id, l.wf_id, l.parent_id, l.opened_at is not null as opened from lane l
  where l.closed_at is null and l.open_count > 0 and l.created_at <= now() - make_interval(secs => $1::float8)
    and (l.opened_at is null or l.next_due_at <= now() - make_interval(secs => $1::float8) or exists (
      select 1 from agent_inbox i where i.lane_id = l.id and i.at <= now() - make_interval(secs => $1::float8)))
  order by l.id limit $2`;
