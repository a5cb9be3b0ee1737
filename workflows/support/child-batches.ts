import { type TypedSearchAttributes, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchPlan } from '../contracts/activities.ts';
import type { BatchInput, BatchResult } from '../contracts/batch.contract.ts';
import type { GroupInput } from '../contracts/group.contract.ts';
import { type OpenBatch, OPERATIONS_LIMIT } from '../contracts/queries.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { batchWorkflow, RELEASED_BATCH_WORKFLOW, RELEASED_GROUP_WORKFLOW } from '../contracts/workflow-types.ts';
import { groupProgress, namesOf } from './details.ts';
import type { ProgressBoard } from './progress-board.ts';

/**
 * Starts the batches of a group as children and waits until all have ended.
 * @remarks Ignores how a batch ended: the rows decide. Does not wait for a batch that already runs or ran. Batches
 * outlive their parent; a cancel of the parent reaches them.
 */
export async function runBatches(input: GroupInput, plans: readonly BatchPlan[], board: ProgressBoard): Promise<void> {
  const open = new Set(plans);
  const show = (): void => board.show(groupProgress(plans, open), [...open].slice(0, OPERATIONS_LIMIT).map(openBatch));
  show();
  await Promise.all(
    plans.map(async (plan) => {
      const isElsewhere = await runBatch(input, plan).then(
        () => false,
        (error: unknown) => error instanceof WorkflowExecutionAlreadyStartedError,
      );
      if (!isElsewhere) open.delete(plan);
      show();
    }),
  );
}

function openBatch(plan: BatchPlan): OpenBatch {
  const { computer, workflowId } = plan;
  return { computers: namesOf(plan), ...(computer?.operation && { operation: computer.operation }), workflowId };
}

function runBatch(input: GroupInput, plan: BatchPlan): Promise<BatchResult> {
  // A group continues with the children that its history started with.
  const isReleased = workflowInfo().workflowType === RELEASED_GROUP_WORKFLOW;
  return executeChild<(input: BatchInput) => Promise<BatchResult>>(
    isReleased ? RELEASED_BATCH_WORKFLOW : batchWorkflow(plan.single),
    {
      workflowId: plan.workflowId,
      args: [{ batch: plan.lane ?? plan.batch, single: plan.single }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: plan.summary,
      typedSearchAttributes: searchAttributes(input, plan),
    },
  );
}

function searchAttributes(input: GroupInput, plan: BatchPlan): TypedSearchAttributes {
  return workflowInfo().typedSearchAttributes.updateCopy([
    { key: SEARCH_ATTRIBUTES.groupId, value: String(input.id) },
    // Activities of an older build do not return it.
    ...(plan.type === undefined ? [] : [{ key: SEARCH_ATTRIBUTES.activityType, value: plan.type }]),
    ...(plan.computer ? [{ key: SEARCH_ATTRIBUTES.computerId, value: String(plan.computer.id) }] : []),
  ]);
}
