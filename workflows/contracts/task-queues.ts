/** Task queues, named by the resource they exhaust. @see temporal-design 2 */
export const TASK_QUEUES = {
  activity: 'fleet-activity',
  schedule: 'fleet-schedule',
  report: 'fleet-report',
} as const;

export type TaskQueue = (typeof TASK_QUEUES)[keyof typeof TASK_QUEUES];
