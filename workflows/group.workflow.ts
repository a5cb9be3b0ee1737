import { CancellationScope, condition, continueAsNew, patched, workflowInfo } from '@temporalio/workflow';
import type { GroupProgress } from './contracts/activities.ts';
import { runComputerOperation } from './computer-operation.workflow.ts';
import type { ComputerOperationInput, GroupInput, OperationCounts } from './contracts/activity.contract.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { type ChildBatches, startBatches } from './support/child-batches.ts';
import { rowsProgress } from './support/details.ts';
import { activities } from './support/named-activities.ts';
import { createProgressBoard, type ProgressBoard } from './support/progress-board.ts';

const FIRST_POLL_MS = 60_000;
const LAST_POLL_MS = 10 * 60_000;
/** Batches end within moments of a cancel. */
const CANCEL_POLL_MS = 1_000;
/** The pause between two refreshes of the listed operations: a quarter of the age of the run. */
const REFRESH_AGE_SHARE = 4;
const FIRST_REFRESH_MS = 10_000;
/** Patch: a cancel also goes through the rows, and then only the rows are awaited. */
const CANCEL_BY_ROWS = 'cancel-by-rows';

/**
 * Starts the batches of a group and closes with the status of its row. A group of one computer has no children.
 * @see docs/architecture.md#cancellation
 */
export async function runGroup(input: GroupInput | ComputerOperationInput): Promise<OperationCounts> {
  if ('batch' in input) return runComputerOperation(input);
  const cancellation = watchCancellation();
  const board = createProgressBoard();
  const children = startBatches(input, await activities.listOpenBatches({ group: input.id }), board);
  // A result without operations is of an older build, whose histories contain no refresh.
  if (children.plans.some(({ operations }) => operations)) await refreshOperations(input, cancellation, children);
  else await Promise.race([children.ended, cancelRequested(children)]);
  const end = await waitForRows(input, cancellation, { children, board });
  const { succeeded, failed, canceled } = end;
  if (end.status === 'failed') throw operationFailure(AGENT_FAILURE_MESSAGES.group);
  if (end.status === 'canceled') await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/** Resolves on a cancel while batches are awaited; never where an older build handled the cancel. */
function cancelRequested(children: ChildBatches): Promise<void> {
  return CancellationScope.current().cancelRequested.catch(() =>
    children.over || patched(CANCEL_BY_ROWS) ? undefined : new Promise(() => undefined),
  );
}

/** Waits for the batches or a cancel; reads meanwhile what the open operations wait for, ever less often. */
async function refreshOperations(input: GroupInput, cancellation: CancelWatch, children: ChildBatches): Promise<void> {
  const isEnded = (): boolean => children.over || cancellation.requested;
  const pauseMs = (): number =>
    Math.max((Date.now() - workflowInfo().runStartTime.getTime()) / REFRESH_AGE_SHARE, FIRST_REFRESH_MS);
  while (!(await waitUntil(isEnded, pauseMs()))) {
    const { operations = [] } = await activities.getGroupProgress({ group: input.id, cancelAll: false });
    children.list(operations);
  }
}

/** Polls: rows may outlive their batch after a repair, and a batch its rows after a cancel; neither end is signaled. */
async function waitForRows(
  input: GroupInput,
  cancellation: CancelWatch,
  { children, board }: { children: ChildBatches; board: ProgressBoard },
): Promise<GroupProgress> {
  let waitMs = cancellation.requested ? CANCEL_POLL_MS : FIRST_POLL_MS;
  for (;;) {
    const { over } = children;
    const cancelAll = cancellation.requested;
    const isChanged = (): boolean => children.over !== over || cancellation.requested !== cancelAll;
    const progress = await activities.getGroupProgress({ group: input.id, cancelAll });
    if (progress.open === 0) {
      if (!over) await waitUntil(() => children.over, CANCEL_POLL_MS);
      return progress;
    }
    if (over) board.show(rowsProgress(progress, children.plans), progress.operations ?? []);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runGroup>(input);
    await waitUntil(isChanged, waitMs);
    waitMs = cancellation.requested === cancelAll ? Math.min(waitMs * 2, LAST_POLL_MS) : CANCEL_POLL_MS;
  }
}

function waitUntil(check: () => boolean, limitMs: number): Promise<boolean> {
  return CancellationScope.nonCancellable(() => condition(check, limitMs));
}
