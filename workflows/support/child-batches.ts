import { type TypedSearchAttributes, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchPlan, GroupOperation } from '../contracts/activities.ts';
import type {
  BatchInput,
  ComputerOperationInput,
  GroupInput,
  OperationCounts,
} from '../contracts/activity.contract.ts';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.ts';
import { batchWorkflow, RELEASED_BATCH_WORKFLOW, RELEASED_GROUP_WORKFLOW } from '../contracts/workflow-types.ts';
import { groupProgress } from './details.ts';
import type { ProgressBoard } from './progress-board.ts';

export interface ChildBatches {
  readonly plans: readonly BatchPlan[];
  over: boolean;
  readonly ended: Promise<void>;
  list(operations: readonly GroupOperation[]): void;
}

/** Starts the batches of a group, which outlive it. Ignores how they end, and those that already run or ran: rows decide. */
export function startBatches(input: GroupInput, plans: readonly BatchPlan[], board: ProgressBoard): ChildBatches {
  const open = new Map(plans.map((plan) => [plan.workflowId, plan]));
  let listed: readonly GroupOperation[] = plans.flatMap(({ operations = [] }) => operations);
  const show = (): void => {
    const operations = listed.filter(({ workflowId }) => open.has(workflowId));
    board.show(groupProgress(plans, [...open.values()]), operations);
  };
  const run = async (plan: BatchPlan): Promise<void> => {
    const isElsewhere = await runBatch(input, plan).then(
      () => false,
      (error: unknown) => error instanceof WorkflowExecutionAlreadyStartedError,
    );
    if (!isElsewhere) open.delete(plan.workflowId);
    show();
  };
  show();
  const children = {
    plans,
    over: false,
    ended: Promise.all(plans.map(run)).then(() => {
      children.over = true;
    }),
    list(operations: readonly GroupOperation[]): void {
      listed = operations;
      show();
    },
  };
  return children;
}

function runBatch(input: GroupInput, plan: BatchPlan): Promise<OperationCounts> {
  // A group continues with the children that its history started with.
  const isReleased = workflowInfo().workflowType === RELEASED_GROUP_WORKFLOW;
  const { single } = plan;
  const batch = plan.lane ?? plan.batch;
  return executeChild<(input: BatchInput | ComputerOperationInput) => Promise<OperationCounts>>(
    isReleased ? RELEASED_BATCH_WORKFLOW : batchWorkflow(single),
    {
      workflowId: plan.workflowId,
      args: [single && !isReleased ? { batch } : { batch, single }],
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
    ...(plan.computer?.operation
      ? [{ key: SEARCH_ATTRIBUTES.operationId, value: String(plan.computer.operation) }]
      : []),
  ]);
}
