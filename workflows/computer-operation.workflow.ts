import { CancellationScope, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { BatchProgress } from './contracts/activities.ts';
import type { ComputerOperationInput, OperationCounts } from './contracts/activity.contract.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { batchProgress } from './support/details.ts';
import { DueTimer } from './support/due-timer.ts';
import { operationActivities } from './support/named-activities.ts';
import { createProgressBoard } from './support/progress-board.ts';
import { onWakeUp } from './support/wake-up.ts';

/** What the workflow waits for: a cancel, a report of the agent, or the next due moment, in this order. */
type Occurrence = 'cancel' | 'report' | 'due';

/**
 * An action on one computer, with all operations of its chain: queues the message when it is due, waits for the report
 * of the agent or the deadline, records the outcome, continues with the next operation, and closes with the status of
 * the rows. @see docs/architecture.md#one-computer
 */
export async function runComputerOperation(input: ComputerOperationInput): Promise<OperationCounts> {
  const cancellation = watchCancellation();
  const { succeeded, failed, canceled } = await CancellationScope.nonCancellable(() => carryOut(input, cancellation));
  if (failed > 0) throw operationFailure(AGENT_FAILURE_MESSAGES.computer);
  if (canceled > 0) await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

async function carryOut(input: ComputerOperationInput, cancellation: CancelWatch): Promise<BatchProgress> {
  const { batch } = input;
  const board = createProgressBoard();
  const occurrences = watchOccurrences(input, cancellation);
  let progress = cancellation.requested ? await cancelOperations() : await operationActivities.queueMessage({ batch });
  for (;;) {
    occurrences.setDueTime(progress);
    board.show(batchProgress(progress), progress.operations ?? []);
    if (progress.open === 0) return progress;
    // The next run starts with the rows; only a cancel request would not reach it.
    if (workflowInfo().continueAsNewSuggested && !occurrences.isCancelPending()) {
      await continueAsNew<typeof runComputerOperation>({ ...input, overdue: occurrences.overdue });
    }
    switch (await occurrences.next()) {
      case 'cancel':
        progress = await cancelOperations();
        break;
      case 'report':
        progress = await operationActivities.recordReport({ batch });
        break;
      case 'due':
        progress = await operationActivities.processDueTime({ batch });
    }
  }

  function cancelOperations(): Promise<BatchProgress> {
    occurrences.cancelHandled();
    return operationActivities.cancelOperations({ batch });
  }
}

/** Each occurrence is kept until {@link next} returns it: every activity also processes what came before it. */
function watchOccurrences(input: ComputerOperationInput, cancellation: CancelWatch) {
  let isReported = false;
  let isDue = false;
  let isCancelHandled = false;
  onWakeUp(() => {
    isReported = true;
  });
  const timer = new DueTimer(() => {
    isDue = true;
  }, input.overdue);
  const isCancelPending = (): boolean => cancellation.requested && !isCancelHandled;
  return {
    isCancelPending,
    cancelHandled(): void {
      isCancelHandled = true;
    },
    get overdue() {
      return timer.overdue ?? undefined;
    },
    setDueTime({ open, nextDueAt }: BatchProgress): void {
      timer.setDueTime(open === 0 ? null : nextDueAt);
    },
    async next(): Promise<Occurrence> {
      await condition(() => isReported || isDue || isCancelPending());
      const next = isCancelPending() ? 'cancel' : isReported ? 'report' : 'due';
      isReported = false;
      isDue = false;
      return next;
    },
  };
}
