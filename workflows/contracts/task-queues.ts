/** Task queues, named by the resource they use. @see docs/architecture.md#task-queues */
export const TASK_QUEUES = {
  activity: 'fleet-activity',
  schedule: 'fleet-schedule',
  report: 'fleet-report',
} as const;

export type TaskQueue = (typeof TASK_QUEUES)[keyof typeof TASK_QUEUES];
