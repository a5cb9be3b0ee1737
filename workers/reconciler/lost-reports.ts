import { activityWorkflowId } from '../../src/domain/activities/workflow-id.ts';
import { touchReportActivity } from '../../src/persistence/compliance/usg-reports.repository.ts';
import { endReportActivity, openReportActivities } from '../../src/persistence/compliance/usg-reports.sql.ts';
import { readStartableActivities } from '../../src/persistence/engine/startable.sql.ts';
import { isLeftStanding, type Repair, type RepairDeps, readState, TERMINATED_TEXT } from '../dispatcher/repair.ts';

/** A report without progress for this long may be waiting for a build that is no longer served. */
const QUIET_MS = 30 * 60_000;
const LIMIT = 200;

/** Restarts those without a workflow or on a build no longer served; ends those an operator terminated. Idempotent. */
export async function repairReports(
  deps: RepairDeps,
  { settleMs, now, count }: { settleMs: number; now: Date; count: (workflowId: string, repair: Repair) => void },
): Promise<void> {
  for (const report of await openReportActivities(deps.db, new Date(now.getTime() - settleMs), LIMIT)) {
    const isQuiet = now.getTime() - report.modification_time.getTime() > QUIET_MS;
    count(activityWorkflowId(report.id), await repairReport(deps, report.id, { isQuiet, now }));
  }
}

async function repairReport(deps: RepairDeps, id: number, at: { isQuiet: boolean; now: Date }): Promise<Repair> {
  const { isQuiet, now } = at;
  const { db, client, starter, logger, buildId } = deps;
  const workflowId = activityWorkflowId(id);
  const state = await readState(client, workflowId, buildId);
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
  await starter.start(startable, isReplaced ? 'replace' : 'allow');
  logger.warn({ workflowId, state }, 'restarted the workflow of a report');
  return 'restarted';
}
