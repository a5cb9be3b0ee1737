/** Task queues, named by the resource they use. @see docs/architecture.md#task-queues */
export const TASK_QUEUES = {
  activity: 'fleet-activity',
  schedule: 'fleet-schedule',
  report: 'fleet-report',
} as const;

/** The queue of a Temporal activity that a workflow of another queue calls; its workers load no workflow code. */
export const ACTIVITY_ONLY_QUEUE = TASK_QUEUES.report;

export type TaskQueue = (typeof TASK_QUEUES)[keyof typeof TASK_QUEUES];
