import type { ActivityStatus } from '../activities/status.ts';

/** Operations of a group or batch by status. `open` includes `delivered`. */
export interface ChildCounts {
  open: number;
  delivered: number;
  succeeded: number;
  failed: number;
  canceled: number;
}

/** Stored statuses of groups. `scheduled` and `waiting` are computed on reading; `unapproved` is set by approvals. */
type GroupStatus = 'undelivered' | 'delivered' | 'succeeded' | 'failed' | 'canceled';

/** A group without operations has succeeded. @param wasDelivered - whether an operation was delivered before it ended */
export function rollUp(counts: ChildCounts, wasDelivered: boolean): GroupStatus {
  if (counts.open > 0) return wasDelivered ? 'delivered' : 'undelivered';
  if (counts.failed > 0) return 'failed';
  return counts.canceled > 0 ? 'canceled' : 'succeeded';
}

export interface Transition {
  from: ActivityStatus;
  to: ActivityStatus;
  count: number;
}

/** By how much `transitions` change the counters of their batch and group. */
export function countDifference(transitions: readonly Transition[]): ChildCounts {
  const difference: ChildCounts = { open: 0, delivered: 0, succeeded: 0, failed: 0, canceled: 0 };
  for (const { from, to, count } of transitions) {
    for (const bucket of bucketsOf(from)) difference[bucket] -= count;
    for (const bucket of bucketsOf(to)) difference[bucket] += count;
  }
  return difference;
}

function bucketsOf(status: ActivityStatus): ReadonlyArray<keyof ChildCounts> {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return [status];
    case 'delivered':
      return ['open', 'delivered'];
    case 'unapproved':
    case 'blocked':
    case 'waiting':
    case 'scheduled':
    case 'undelivered':
      return ['open'];
  }
}
