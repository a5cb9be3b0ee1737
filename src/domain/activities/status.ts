/** All statuses of activities. @see docs/api-conventions.md#activity-statuses */
export const ACTIVITY_STATUSES = [
  'unapproved',
  'blocked',
  'waiting',
  'scheduled',
  'undelivered',
  'delivered',
  'succeeded',
  'failed',
  'canceled',
] as const;

export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];

export const FINAL_STATUSES = ['succeeded', 'failed', 'canceled'] as const satisfies readonly ActivityStatus[];

/**
 * A computer that has a canceled operation may still report: its result replaces `canceled` once. Open activities may
 * end directly, because delivery and result may arrive together, or delivery may prove impossible.
 */
export const TRANSITIONS: Readonly<Record<ActivityStatus, readonly ActivityStatus[]>> = {
  unapproved: ['undelivered', 'scheduled', 'waiting', 'canceled'],
  blocked: ['undelivered', 'waiting', 'canceled'],
  waiting: ['undelivered', 'delivered', 'succeeded', 'failed', 'canceled'],
  scheduled: ['undelivered', 'delivered', 'succeeded', 'failed', 'canceled'],
  undelivered: ['delivered', 'blocked', 'succeeded', 'failed', 'canceled'],
  delivered: ['succeeded', 'failed', 'canceled'],
  succeeded: [],
  failed: [],
  canceled: ['succeeded', 'failed'],
};

export function isFinal(status: ActivityStatus): boolean {
  return (FINAL_STATUSES as readonly ActivityStatus[]).includes(status);
}

export function canTransition(from: ActivityStatus, to: ActivityStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

export const OPEN_STATUSES: readonly ActivityStatus[] = ACTIVITY_STATUSES.filter((status) => !isFinal(status));

/** Operations that wait for approval or for another operation; none of their messages are queued. */
export const IDLE_STATUSES = ['unapproved', 'blocked', 'waiting'] as const satisfies readonly ActivityStatus[];
