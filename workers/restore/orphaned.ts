import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

/** Why a repair after a restore terminates a workflow whose rows are not there. */
export const ORPHANED = 'the database was restored to a time before this activity';

const CLOSE_EVENT = proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;

/**
 * Whether a run that was terminated was so by a repair after a restore: rows that have the id of its workflow by now are
 * others, and nobody wanted to end those.
 */
export async function isOrphaned(client: Client, execution: { workflowId: string; runId: string }): Promise<boolean> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution,
    historyEventFilterType: CLOSE_EVENT,
  });
  return history?.events?.at(-1)?.workflowExecutionTerminatedEventAttributes?.reason === ORPHANED;
}
