/** Every state an activity can be read in. @see docs/api-conventions.md#activity-statuses */
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
 * Which state may follow which. `canceled` is final with one exception: a computer that already had the operation
 * when it was cancelled may still report, and its report replaces the state once.
 * @remarks Delivery and result may arrive together, and delivery can turn out impossible: open states may go
 * straight to `failed` or `succeeded`.
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

/** Tells whether an activity in `status` has ended. */
export function isFinal(status: ActivityStatus): boolean {
  return (FINAL_STATUSES as readonly ActivityStatus[]).includes(status);
}

/** Tells whether `from` may become `to`. */
export function canTransition(from: ActivityStatus, to: ActivityStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Every state that `to` may follow. */
export function statusesBefore(to: ActivityStatus): ActivityStatus[] {
  return ACTIVITY_STATUSES.filter((from) => canTransition(from, to));
}

/** States of what has not ended. */
export const OPEN_STATUSES: readonly ActivityStatus[] = ACTIVITY_STATUSES.filter((status) => !isFinal(status));

/** States of operations that wait for another one or for a person; nothing of them is in a queue. */
export const IDLE_STATUSES = ['unapproved', 'blocked', 'waiting'] as const satisfies readonly ActivityStatus[];
