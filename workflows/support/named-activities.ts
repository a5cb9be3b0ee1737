import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type {
  CancelActivities,
  EngineActivities,
  OperationActivities,
  ReleasedActivities,
  ReportActivities,
  ReportCloseActivities,
} from '../contracts/activities.ts';
import { TASK_QUEUES } from '../contracts/task-queues.ts';
import {
  RELEASED_BATCH_WORKFLOW,
  RELEASED_GROUP_WORKFLOW,
  RELEASED_REPORT_WORKFLOW,
} from '../contracts/workflow-types.ts';
import { proxyDatabaseActivities } from './database-activities.ts';

/** On workers of their own. Missing heartbeats reveal a dead one; another then restarts the report. */
const WITH_HEARTBEATS = {
  taskQueue: TASK_QUEUES.report,
  startToCloseTimeout: '6h',
  heartbeatTimeout: '10s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1s', maximumInterval: '1m', maximumAttempts: 30 },
} as const;

const current = proxyDatabaseActivities<EngineActivities & CancelActivities & ReportCloseActivities>();
const released = proxyDatabaseActivities<ReleasedActivities>();
const reports = proxyActivities<ReportActivities>(WITH_HEARTBEATS);
const releasedReports = proxyActivities<Pick<ReleasedActivities, 'generateReport'>>(WITH_HEARTBEATS);

/** The Temporal activities of an action on one computer. */
export const operationActivities = proxyDatabaseActivities<OperationActivities>();

const RELEASED_TYPES: ReadonlySet<string> = new Set([
  RELEASED_GROUP_WORKFLOW,
  RELEASED_BATCH_WORKFLOW,
  RELEASED_REPORT_WORKFLOW,
]);

/** Whether the history of this workflow calls activities by their 0.1.0 names. */
const isReleased = (): boolean => RELEASED_TYPES.has(workflowInfo().workflowType);

/** The Temporal activities of groups, batches and reports for workflow code. */
export const activities: EngineActivities & CancelActivities & ReportActivities & ReportCloseActivities = {
  processPendingEvents: (input) =>
    isReleased() ? released.advance(input.batch, input.cancelAll) : current.processPendingEvents(input),
  listOpenBatches: (input) => (isReleased() ? released.begin(input.group) : current.listOpenBatches(input)),
  getGroupProgress: (input) =>
    isReleased() ? released.settle(input.group, input.cancelAll) : current.getGroupProgress(input),
  cancelRun: (input) =>
    isReleased() ? released.requestCancel(input.workflowId, input.runId) : current.cancelRun(input),
  writeReport: (input) => (isReleased() ? releasedReports.generateReport(input.activity) : reports.writeReport(input)),
  closeReport: (input) =>
    isReleased() ? released.endReport(input.activity, input.status) : current.closeReport(input),
};
