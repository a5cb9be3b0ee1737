import { type Client, ScheduleOverlapPolicy } from '@temporalio/client';
import {
  ACTIVITY_RETENTION_SCHEDULE_ID,
  ACTIVITY_RETENTION_WORKFLOW,
  ACTIVITY_RETENTION_WORKFLOW_ID,
  AUDIT_RETENTION_SCHEDULE_ID,
  AUDIT_RETENTION_WORKFLOW,
  AUDIT_RETENTION_WORKFLOW_ID,
  HASH_ID_DATABASES_SCHEDULE_ID,
  HASH_ID_DATABASES_WORKFLOW,
  HASH_ID_DATABASES_WORKFLOW_ID,
  RECONCILE_SCHEDULE_ID,
  RECONCILE_WORKFLOW,
  RECONCILE_WORKFLOW_ID,
} from '../../workflows/contracts/housekeeping.contract.ts';
import { TASK_QUEUES } from '../../workflows/contracts/task-queues.ts';
import { deleteSchedule, upsertSchedule } from './upsert-schedule.ts';

/** Id prefix of system schedules; those that are not declared are deleted. */
const SYSTEM_SCHEDULE_PREFIX = 'system/';

/** The housekeeping schedules. A missed run is skipped unless declared otherwise: the next one does all the work. */
const SYSTEM_SCHEDULES = [
  {
    scheduleId: RECONCILE_SCHEDULE_ID,
    spec: { intervals: [{ every: '1m', offset: '25s' }] },
    action: {
      type: 'startWorkflow',
      workflowType: RECONCILE_WORKFLOW,
      workflowId: RECONCILE_WORKFLOW_ID,
      taskQueue: TASK_QUEUES.schedule,
      args: [],
      workflowExecutionTimeout: '5m',
      staticSummary: 'compare open activities with open workflows',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '30s' },
  },
  {
    scheduleId: ACTIVITY_RETENTION_SCHEDULE_ID,
    spec: { intervals: [{ every: '1h', offset: '7m' }] },
    action: {
      type: 'startWorkflow',
      workflowType: ACTIVITY_RETENTION_WORKFLOW,
      workflowId: ACTIVITY_RETENTION_WORKFLOW_ID,
      taskQueue: TASK_QUEUES.schedule,
      args: [],
      workflowExecutionTimeout: '50m',
      staticSummary: 'remove activities that ended before the retention time',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '30s' },
  },
  {
    scheduleId: AUDIT_RETENTION_SCHEDULE_ID,
    spec: { intervals: [{ every: '1d', offset: '3h' }] },
    action: {
      type: 'startWorkflow',
      workflowType: AUDIT_RETENTION_WORKFLOW,
      workflowId: AUDIT_RETENTION_WORKFLOW_ID,
      taskQueue: TASK_QUEUES.schedule,
      args: [{ deletedCount: 0 }],
      workflowExecutionTimeout: '23h',
      staticSummary: 'remove audits and reports that are older than their account keeps them',
    },
    // A server that is off every night catches up in the morning.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1d' },
  },
  {
    scheduleId: HASH_ID_DATABASES_SCHEDULE_ID,
    spec: { intervals: [{ every: '1h', offset: '37m' }] },
    action: {
      type: 'startWorkflow',
      workflowType: HASH_ID_DATABASES_WORKFLOW,
      workflowId: HASH_ID_DATABASES_WORKFLOW_ID,
      taskQueue: TASK_QUEUES.schedule,
      args: [],
      workflowExecutionTimeout: '50m',
      staticSummary: 'build the files of hashes and ids of packages that new computers download',
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '30s' },
  },
] as const;

/** Workflow types of housekeeping. */
export const SYSTEM_WORKFLOWS: readonly string[] = SYSTEM_SCHEDULES.map(({ action }) => action.workflowType);

/** Creates, updates and deletes housekeeping schedules as declared; one that an operator paused stays so. Idempotent. */
export async function upsertSchedules(client: Client): Promise<void> {
  await Promise.all(
    SYSTEM_SCHEDULES.map(({ spec, action, ...schedule }) =>
      upsertSchedule(client, {
        ...schedule,
        spec: { intervals: [...spec.intervals] },
        action: { ...action, args: [...action.args] },
        stateOf: (current) => current,
      }),
    ),
  );
  const declared = new Set<string>(SYSTEM_SCHEDULES.map((schedule) => schedule.scheduleId));
  for await (const { scheduleId } of client.schedule.list()) {
    if (!scheduleId.startsWith(SYSTEM_SCHEDULE_PREFIX) || declared.has(scheduleId)) continue;
    await deleteSchedule(client, scheduleId);
  }
}
