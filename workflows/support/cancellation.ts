import { CancellationScope, CancelledFailure, condition, workflowInfo } from '@temporalio/workflow';
import { activities } from './named-activities.ts';

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

/** Closes the workflow as Canceled, after a cancel of its own when there was none: otherwise it would be Failed. */
export async function closeAsCanceled(watch: CancelWatch): Promise<never> {
  const { workflowId, runId } = workflowInfo();
  if (!watch.requested) await activities.cancelRun({ workflowId, runId });
  await CancellationScope.nonCancellable(() => condition(() => watch.requested));
  throw new CancelledFailure('canceled');
}
