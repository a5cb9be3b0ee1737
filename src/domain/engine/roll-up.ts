import type { ActivityStatus } from '../activities/status.ts';

/** How the operations of a group or batch stand. `open` includes `delivered`. */
export interface ChildCounts {
  open: number;
  delivered: number;
  succeeded: number;
  failed: number;
  canceled: number;
}

/** What is stored for a group; `scheduled` and `waiting` are derived when it is read, `unapproved` is its approval's. */
export type GroupStatus = 'undelivered' | 'delivered' | 'succeeded' | 'failed' | 'canceled';

/**
 * Status of a group from its children alone.
 * @param isBegun - something of it was delivered
 * @remarks A group without children has succeeded: its expansion is over. Children that ended before their delivery are
 * no beginning.
 */
export function rollUp(counts: ChildCounts, isBegun: boolean): GroupStatus {
  if (counts.open > 0) return isBegun ? 'delivered' : 'undelivered';
  if (counts.failed > 0) return 'failed';
  return counts.canceled > 0 ? 'canceled' : 'succeeded';
}

/** One kind of status change and how many operations made it. */
export interface Transition {
  from: ActivityStatus;
  to: ActivityStatus;
  count: number;
}

/** By how much `transitions` move the counters of the batch and the group they happened in. */
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
