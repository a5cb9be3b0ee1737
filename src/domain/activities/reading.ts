import type { ActivityStatus } from './status.ts';

interface StoredPosition {
  status: ActivityStatus;
  deliverAt: Date | null;
  /** The message waits for space in the computer's queue. For a group: so do all its undelivered operations. */
  held: boolean;
  /** Only for a group that is due: no operation can be delivered now, and some are scheduled for later. */
  onlyLater: boolean;
}

/** Adds the statuses that are computed, not stored. @see docs/api-conventions.md#activity-statuses */
export function readStatus(stored: StoredPosition, now: Date): ActivityStatus {
  if (stored.status !== 'undelivered') return stored.status;
  if (stored.onlyLater || (stored.deliverAt !== null && stored.deliverAt > now)) return 'scheduled';
  return stored.held ? 'waiting' : 'undelivered';
}
