import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { FAILURE_TYPES } from '../../workflows/contracts/failures.ts';

/** Why a repair after a restore terminates a workflow without rows. */
export const ORPHANED = 'the database was restored to a time before this activity';

const CLOSE_EVENT = proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;

interface Execution {
  workflowId: string;
  runId: string;
}

/** Whether a repair after a restore terminated the run: rows that now have its id are others. */
export async function isOrphaned(client: Client, execution: Execution): Promise<boolean> {
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
