import { CancellationScope, condition, continueAsNew, patched, workflowInfo } from '@temporalio/workflow';
import type { BatchPlan, GroupProgress } from './contracts/activities.ts';
import type { ActivityInput, ActivityResult } from './contracts/activity.contract.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { rowsProgress } from './support/details.ts';
import { runBatches } from './support/lanes.ts';
import { activities } from './support/named-activities.ts';
import { createProgressBoard, type ProgressBoard } from './support/progress-board.ts';

const FIRST_LOOK_MS = 60_000;
const LAST_LOOK_MS = 10 * 60_000;
/** Batches end within moments of a cancel. */
const CANCEL_LOOK_MS = 1_000;
/** Patch: a cancel also goes through the rows, and then only the rows are awaited. */
const CANCEL_BY_ROWS = 'cancel-by-rows';

interface Lanes {
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
export async function activity(input: ActivityInput): Promise<ActivityResult> {
  const cancellation = watchCancellation();
  const board = createProgressBoard();
  const lanes: Lanes = { plans: await activities.listOpenBatches({ group: input.id }), over: false, board };
  const ended = runBatches(input, lanes.plans, board).then(() => {
    lanes.over = true;
  });
  await Promise.race([ended, cancelOf(lanes)]);
  const end = await settled(input, cancellation, lanes);
  const { succeeded, failed, canceled } = end;
  if (end.status === 'failed') {
    throw operationFailure(AGENT_FAILURE_MESSAGES.group);
  }
  if (end.status === 'canceled') await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/** Resolves on a cancel while batches are awaited; never where an older build handled the cancel. */
function cancelOf(lanes: Lanes): Promise<void> {
  return CancellationScope.current().cancelRequested.catch(() =>
    lanes.over || patched(CANCEL_BY_ROWS) ? undefined : new Promise(() => undefined),
  );
}

/** Polls: rows may outlive their batch after a repair, and a batch its rows after a cancel; neither end is signaled. */
async function settled(input: ActivityInput, cancellation: CancelWatch, lanes: Lanes): Promise<GroupProgress> {
  let waitMs = cancellation.requested ? CANCEL_LOOK_MS : FIRST_LOOK_MS;
  for (;;) {
    const { over } = lanes;
    const cancelAll = cancellation.requested;
    const isNews = (): boolean => lanes.over !== over || cancellation.requested !== cancelAll;
    const progress = await activities.getGroupProgress({ group: input.id, cancelAll });
    if (progress.open === 0) {
      if (!over) await waited(() => lanes.over, CANCEL_LOOK_MS);
      return progress;
    }
    if (over) lanes.board.show(rowsProgress(progress, lanes.plans), []);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof activity>(input);
    await waited(isNews, waitMs);
    waitMs = cancellation.requested === cancelAll ? Math.min(waitMs * 2, LAST_LOOK_MS) : CANCEL_LOOK_MS;
  }
}

function waited(isSo: () => boolean, limitMs: number): Promise<boolean> {
  return CancellationScope.nonCancellable(() => condition(isSo, limitMs));
}
