import { activityWorkflowId } from '../../../domain/activities/workflow-id.ts';
import { touchReportActivity } from '../../../persistence/compliance/usg-reports.repository.ts';
import { endReportActivity, openReportActivities } from '../../../persistence/compliance/usg-reports.sql.ts';
import { readStartableActivities } from '../../../persistence/engine/startable.sql.ts';
import { isLeftStanding, type Repair, type RepairRun, TERMINATED_TEXT } from '../../activities/workflows.ts';

/** A report without progress for this long may be waiting for a build that is no longer served. */
const QUIET_MS = 30 * 60_000;
const LIMIT = 200;

/** Restarts those without a workflow or on a build no longer served; ends those an operator terminated. Idempotent. */
export async function repairReports(run: RepairRun, now: Date): Promise<void> {
  const { db, settleMs, count } = run;
  for (const report of await openReportActivities(db, new Date(now.getTime() - settleMs), LIMIT)) {
    const isQuiet = now.getTime() - report.modification_time.getTime() > QUIET_MS;
    count(activityWorkflowId(report.id), await repairReport(run, report.id, { isQuiet, now }));
  }
}

async function repairReport(deps: RepairRun, id: number, at: { isQuiet: boolean; now: Date }): Promise<Repair> {
  const { isQuiet, now } = at;
  const { db, workflows, logger } = deps;
  const workflowId = activityWorkflowId(id);
  const state = await workflows.state(workflowId);
  const isReplaced = isQuiet && (state === 'running' || state === 'busy');
  if (!isReplaced && isLeftStanding(deps, workflowId, state)) return 'none';
  if (state === 'terminated') {
    await endReportActivity(db, id, { status: 'canceled', text: TERMINATED_TEXT, now });
    logger.warn({ workflowId }, 'canceled the report of a terminated workflow');
    return 'closed';
  }
  const [startable] = await readStartableActivities(db, [id]);
  if (!startable) return 'none';
  // Counts as progress, so that a report waiting for its turn is not restarted repeatedly.
  await touchReportActivity(db, id, now);
  await workflows.start(startable, isReplaced ? 'replace' : 'allow');
  logger.warn({ workflowId, state }, 'restarted the workflow of a report');
  return 'restarted';
}
