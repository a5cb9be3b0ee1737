import { CancellationScope, condition, continueAsNew, patched, workflowInfo } from '@temporalio/workflow';
import { runComputerOperation } from './computer-operation.workflow.ts';
import type { BatchProgress } from './contracts/activities.ts';
import type {
  BatchInput,
  ComputerOperationInput,
  OperationCounts,
  ReleasedBatchInput,
} from './contracts/activity.contract.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { batchProgress } from './support/details.ts';
import { DueTimer } from './support/due-timer.ts';
import { activities } from './support/named-activities.ts';
import { createProgressBoard } from './support/progress-board.ts';
import { onWakeUp } from './support/wake-up.ts';

/** Patch: a batch of one computer closes as Canceled if any operation was canceled, even when others succeeded. */
const ANY_CANCELED = 'any-canceled';

/** Driven by its rows, until none is open. @see docs/architecture.md#processing-pending-events */
export async function runBatch(
  input: ComputerOperationInput | BatchInput | ReleasedBatchInput,
): Promise<OperationCounts> {
  if (!('single' in input)) return runComputerOperation(input);
  const cancellation = watchCancellation();
  const end = await CancellationScope.nonCancellable(() => drive(input, cancellation));
  return close(input, end, cancellation);
}

async function drive(input: BatchInput | ReleasedBatchInput, cancellation: CancelWatch): Promise<BatchProgress> {
  const batch = 'lane' in input ? input.lane : input.batch;
  let isWoken = false;
  let isCancelApplied = false;
  const wake = (): void => {
    isWoken = true;
  };
  onWakeUp(wake);
  const board = createProgressBoard();
  const timer = new DueTimer(wake, input.overdue);
  const isCancelPending = (): boolean => cancellation.requested && !isCancelApplied;
  const mustProcess = (): boolean => isWoken || isCancelPending();
  for (;;) {
    isWoken = false;
    const cancelAll = isCancelPending();
    isCancelApplied ||= cancelAll;
    const progress = await activities.processPendingEvents({ batch, cancelAll });
    timer.setDueTime(progress.open === 0 ? null : progress.nextDueAt);
    board.show(batchProgress(progress), progress.operations ?? []);
    if (progress.open === 0) return progress;
    // The next run's first activity processes all pending events; only a cancel request would not reach it.
    if (!isCancelPending() && isHistoryLong(input)) {
      await continueAsNew<typeof runBatch>({ ...input, overdue: timer.overdue ?? undefined });
    }
    await condition(mustProcess);
  }
}

function isHistoryLong(input: BatchInput | ReleasedBatchInput): boolean {
  const info = workflowInfo();
  const limit = 'continueAfterEvents' in input ? input.continueAfterEvents : undefined;
  return info.continueAsNewSuggested || info.historyLength >= (limit ?? Number.POSITIVE_INFINITY);
}

async function close(
  { single }: Pick<BatchInput, 'single'>,
  end: BatchProgress,
  cancellation: CancelWatch,
): Promise<OperationCounts> {
  const { succeeded, failed, canceled } = end;
  if (single && failed > 0) throw operationFailure(AGENT_FAILURE_MESSAGES.computer);
  if (canceled > 0 && isCanceled(single, end, cancellation)) await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/** Of many computers only when the whole batch was to be canceled, which rows may say before the request arrives. */
function isCanceled(single: boolean, { succeeded, wasCanceled }: BatchProgress, cancellation: CancelWatch): boolean {
  if (!single) return cancellation.requested || wasCanceled === true;
  return succeeded === 0 || patched(ANY_CANCELED);
}
