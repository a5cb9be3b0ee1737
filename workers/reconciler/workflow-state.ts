import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { WorkflowState } from '../../src/services/activities/workflows.ts';
import { FAILURE_TYPES } from '../../workflows/contracts/failures.ts';

/** Why a repair after a restore terminates a workflow without rows. */
export const ORPHANED = 'the database was restored to a time before this activity';

const CLOSE_EVENT = proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;

/** A task lost by a worker is retried once or twice, a failing one forever. */
const STUCK_ATTEMPT = 3;

interface Execution {
  workflowId: string;
  runId: string;
}

/** Reads the latest run of a workflow id. @param buildId - of this process; absent for an unversioned worker */
export async function readState(client: Client, workflowId: string, buildId?: string): Promise<WorkflowState> {
  try {
    const { status, runId, raw } = await client.workflow.getHandle(workflowId).describe();
    if (status.name === 'RUNNING' || status.name === 'PAUSED') {
      if (!raw.pendingWorkflowTask) return 'running';
      return (raw.pendingWorkflowTask.attempt ?? 0) >= STUCK_ATTEMPT ? 'stuck' : 'busy';
    }
    if (status.name === 'FAILED') {
      const { deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
      const isSameBuild = (deploymentVersion?.buildId || undefined) === buildId;
      return isSameBuild && (await failedForGood(client, { workflowId, runId })) ? 'failed' : 'closed';
    }
    if (status.name !== 'TERMINATED') return 'closed';
    return (await isOrphaned(client, { workflowId, runId })) ? 'orphaned' : 'terminated';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}

/** Whether a repair after a restore terminated the run: rows that now have its id are others. */
async function isOrphaned(client: Client, execution: Execution): Promise<boolean> {
  return (await closeEvent(client, execution))?.workflowExecutionTerminatedEventAttributes?.reason === ORPHANED;
}

const FINAL: ReadonlySet<string> = new Set([FAILURE_TYPES.missingRow, FAILURE_TYPES.unknownKind, FAILURE_TYPES.defect]);

/** Whether a run failed in a way that the same build would repeat. */
export async function failedForGood(client: Client, execution: Execution): Promise<boolean> {
  const failure = (await closeEvent(client, execution))?.workflowExecutionFailedEventAttributes?.failure;
  return FINAL.has(failure?.applicationFailureInfo?.type ?? '');
}

async function closeEvent(client: Client, execution: Execution) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution,
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1);
}
