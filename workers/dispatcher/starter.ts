import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import { type SearchAttributePair, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { shortSummary } from '../../src/domain/activities/summary.ts';
import { REPORT_ACTIVITY } from '../../src/domain/compliance/report.ts';
import type { Startable, StartMode } from '../../src/services/activities/workflows.ts';
import { CALL_LIMIT_MS } from '../../temporal/client/connection.ts';
import type {
  BatchInput,
  ComputerOperationInput,
  GroupInput,
  ReportInput,
} from '../../workflows/contracts/activity.contract.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { batchWorkflow, groupWorkflow } from '../../workflows/contracts/workflow-types.ts';

export type Starter = ReturnType<typeof createStarter>;

/** Groups with more computers than this yield to everything an administrator waits for. */
const LARGE_GROUP = 25;

/**
 * @param publicUrl - base URL of the link to the API object that operators see with a workflow
 * @param eagerClient - for workflows that a person waits for: the worker of this process gets their first task with the
 * response, without a round trip through the task queue
 */
export function createStarter(client: Client, publicUrl: string, eagerClient: () => Client | null = () => null) {
  return {
    /** Starts the workflow of a row. @returns false when the id is already used */
    async start(row: Startable, mode: StartMode): Promise<boolean> {
      const common = {
        workflowId: row.workflowId,
        taskQueue: TASK_QUEUES.activity,
        typedSearchAttributes: searchAttributes(row),
        staticSummary: shortSummary(row.summary),
        staticDetails: linksOf(row)
          .map((id) => `${publicUrl}/api/v2/activities/${id}`)
          .join('\n\n'),
        priority: { priorityKey: priorityOf(row), fairnessKey: `acct-${row.accountId}` },
        ...policies(mode),
      } satisfies Omit<WorkflowStartOptions, 'args'>;
      const [type, input] = workflowOf(row);
      const options = { ...common, args: [input] };
      const eager = row.isWholeGroup ? eagerClient() : null;
      try {
        if (!eager || !(await startEagerly(eager, type, options))) await client.workflow.start(type, options);
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
  };
}

/** @returns false when the connection failed: the worker may be stopping. @throws when the workflow exists */
async function startEagerly(client: Client, type: string, options: WorkflowStartOptions): Promise<boolean> {
  const start = () => client.workflow.start(type, { ...options, requestEagerStart: true });
  try {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, start);
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) throw error;
    return false;
  }
}

/** Type and input of the workflow of a row. */
export function workflowOf(row: Startable): [string, GroupInput | ReportInput | BatchInput | ComputerOperationInput] {
  const { batch, single, type, activityId: id } = row;
  if (batch === null) return [groupWorkflow(type), { id }];
  return row.isWholeGroup
    ? [groupWorkflow(type), { id, batch }]
    : [batchWorkflow(single), single ? { batch } : { batch, single }];
}

/** Of a group of one computer, also its operation. */
function linksOf({ isWholeGroup, activityId, operationId }: Startable): number[] {
  return isWholeGroup && operationId !== null ? [activityId, operationId] : [activityId];
}

const CONFLICTS = {
  reject: WorkflowIdConflictPolicy.FAIL,
  allow: WorkflowIdConflictPolicy.USE_EXISTING,
  replace: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
} as const;

function policies(mode: StartMode): Pick<WorkflowStartOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy'> {
  const { REJECT_DUPLICATE, ALLOW_DUPLICATE } = WorkflowIdReusePolicy;
  return {
    workflowIdReusePolicy: mode === 'reject' ? REJECT_DUPLICATE : ALLOW_DUPLICATE,
    workflowIdConflictPolicy: CONFLICTS[mode],
  };
}

function searchAttributes(row: Startable): SearchAttributePair[] {
  const { accountId, type: activityType, groupId, computerId, operationId, personId, profileId } = row;
  const values = { accountId, activityType, groupId, computerId, operationId, personId, profileId };
  return Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [{ key: SEARCH_ATTRIBUTES[name as keyof typeof values], value: String(value) }],
  );
}

/** 1 is the most urgent. @see docs/architecture.md#priority-and-fairness */
function priorityOf(row: Startable): number {
  if (row.type === REPORT_ACTIVITY) return 5;
  if (row.computers > LARGE_GROUP) return 4;
  if (row.profileId !== null) return 3;
  return row.computers > 1 ? 2 : 1;
}
