import { CancellationScope, CancelledFailure, condition, workflowInfo } from '@temporalio/workflow';
import { activities } from './named-activities.ts';

/** Whether a cancel of this workflow was requested, by the API, the parent or an operator. */
export interface CancelWatch {
  readonly requested: boolean;
}

/** Starts watching; call it before the first await. */
export function watchCancellation(): CancelWatch {
  const watch = { requested: false };
  CancellationScope.current().cancelRequested.catch(() => {
    watch.requested = true;
  });
  return watch;
}

/**
 * Closes the workflow as Canceled.
 * @throws {CancelledFailure} always
 * @remarks Without a cancel request the server would record Failed; rows cancelled one by one bring none, so it is
 * asked for first.
 */
export async function closeAsCanceled(watch: CancelWatch): Promise<never> {
  const { workflowId, runId } = workflowInfo();
  if (!watch.requested) await activities.cancelRun({ workflowId, runId });
  await CancellationScope.nonCancellable(() => condition(() => watch.requested));
  throw new CancelledFailure('canceled');
}
