import { CancellationScope, condition, continueAsNew, patched, workflowInfo } from '@temporalio/workflow';
import type { BatchPlan, GroupProgress } from './contracts/activities.ts';
import type { GroupInput, GroupResult } from './contracts/group.contract.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { rowsProgress } from './support/details.ts';
import { runBatches } from './support/child-batches.ts';
import { activities } from './support/named-activities.ts';
import { createProgressBoard, type ProgressBoard } from './support/progress-board.ts';

const FIRST_POLL_MS = 60_000;
const LAST_POLL_MS = 10 * 60_000;
/** Batches end within moments of a cancel. */
const CANCEL_POLL_MS = 1_000;
/** Patch: a cancel also goes through the rows, and then only the rows are awaited. */
const CANCEL_BY_ROWS = 'cancel-by-rows';

interface Children {
  plans: readonly BatchPlan[];
  /** Whether all awaited batches have ended. */
  over: boolean;
  board: ProgressBoard;
}

/**
 * Runs one group: starts its batches as child workflows and then closes with the status of the group's row.
 * @remarks A cancel reaches child batches natively, and batches of another run or without this parent through the rows.
 * @see docs/architecture.md#cancellation
 */
export async function runGroup(input: GroupInput): Promise<GroupResult> {
  const cancellation = watchCancellation();
  const board = createProgressBoard();
  const children: Children = { plans: await activities.listOpenBatches({ group: input.id }), over: false, board };
  const ended = runBatches(input, children.plans, board).then(() => {
    children.over = true;
  });
  await Promise.race([ended, cancelRequested(children)]);
  const end = await waitForRows(input, cancellation, children);
  const { succeeded, failed, canceled } = end;
  if (end.status === 'failed') {
    throw operationFailure(AGENT_FAILURE_MESSAGES.group);
  }
  if (end.status === 'canceled') await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/** Resolves on a cancel while batches are awaited; never where an older build handled the cancel. */
function cancelRequested(children: Children): Promise<void> {
  return CancellationScope.current().cancelRequested.catch(() =>
    children.over || patched(CANCEL_BY_ROWS) ? undefined : new Promise(() => undefined),
  );
}

/** Polls: rows may outlive their batch after a repair, and a batch its rows after a cancel; neither end is signaled. */
async function waitForRows(input: GroupInput, cancellation: CancelWatch, children: Children): Promise<GroupProgress> {
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
    if (over) children.board.show(rowsProgress(progress, children.plans), []);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runGroup>(input);
    await waitUntil(isChanged, waitMs);
    waitMs = cancellation.requested === cancelAll ? Math.min(waitMs * 2, LAST_POLL_MS) : CANCEL_POLL_MS;
  }
}

function waitUntil(check: () => boolean, limitMs: number): Promise<boolean> {
  return CancellationScope.nonCancellable(() => condition(check, limitMs));
}
