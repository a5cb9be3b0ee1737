import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchProgress } from './contracts/activities.ts';
import { AGENT_FAILURE_MESSAGES, operationFailure } from './contracts/failures.ts';
import { type LaneInput, type LaneResult, NUDGE_SIGNAL } from './contracts/lane.contract.ts';
import { type CancelWatch, closeAsCanceled, watchCancellation } from './support/cancellation.ts';
import { batchProgress } from './support/details.ts';
import { DueTimer } from './support/due-timer.ts';
import { activities } from './support/named-activities.ts';
import { createProgressBoard } from './support/progress-board.ts';

const nudge = defineSignal(NUDGE_SIGNAL);

/** Patch: a batch of one computer closes as Canceled if any operation was canceled, even when others succeeded. */
const ANY_CANCELED = 'any-canceled';

/**
 * Drives the operations of one batch until none is open: processes pending events when woken or due, and otherwise
 * waits, for weeks if need be.
 * @remarks All state is in the rows; restarted from nothing, it continues from them.
 * @see docs/architecture.md#processing-pending-events
 */
export async function lane(input: LaneInput): Promise<LaneResult> {
  const cancellation = watchCancellation();
  const end = await CancellationScope.nonCancellable(() => drive(input, cancellation));
  return close(input, end, cancellation);
}

async function drive(input: LaneInput, cancellation: CancelWatch): Promise<BatchProgress> {
  let isWoken = false;
  let isCancelApplied = false;
  const wake = (): void => {
    isWoken = true;
  };
  setHandler(nudge, wake);
  const board = createProgressBoard();
  const timer = new DueTimer(wake, input.overdue);
  const isCancelPending = (): boolean => cancellation.requested && !isCancelApplied;
  const mustProcess = (): boolean => isWoken || isCancelPending();
  for (;;) {
    isWoken = false;
    const cancelAll = isCancelPending();
    isCancelApplied ||= cancelAll;
    const progress = await activities.processPendingEvents({ batch: input.lane, cancelAll });
    timer.arm(progress.open === 0 ? null : progress.nextDueAt);
    board.show(batchProgress(progress), progress.operations ?? []);
    if (progress.open === 0) return progress;
    // The next run's first activity processes all pending events; only a cancel request would not reach it.
    if (!isCancelPending() && historyIsLong(input)) await goOn(input, timer);
    await condition(mustProcess);
  }
}

function goOn(input: LaneInput, { overdue }: DueTimer): Promise<never> {
  return continueAsNew<typeof lane>({ ...input, overdue: overdue ?? undefined });
}

function historyIsLong(input: LaneInput): boolean {
  const info = workflowInfo();
  return info.continueAsNewSuggested || info.historyLength >= (input.continueAfterEvents ?? Number.POSITIVE_INFINITY);
}

async function close(input: LaneInput, end: BatchProgress, cancellation: CancelWatch): Promise<LaneResult> {
  const { succeeded, failed, canceled } = end;
  if (input.single && failed > 0) {
    throw operationFailure(AGENT_FAILURE_MESSAGES.computer);
  }
  if (canceled > 0 && isCanceled(input, end, cancellation)) await closeAsCanceled(cancellation);
  return { succeeded, failed, canceled };
}

/**
 * For one computer, decided by all its operations together; for many, only when the whole batch was to be canceled,
 * which the rows may say before the request arrives.
 */
function isCanceled(input: LaneInput, { succeeded, wasCanceled }: BatchProgress, cancellation: CancelWatch): boolean {
  if (!input.single) return cancellation.requested || wasCanceled === true;
  return succeeded === 0 || patched(ANY_CANCELED);
}
