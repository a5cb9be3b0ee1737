import type { ActivityStatus } from './status.ts';

/** What is stored of an activity's position. */
export interface StoredPosition {
  status: ActivityStatus;
  /** Moment before which it is not delivered; null when there is none. */
  deliverAt: Date | null;
  /** Its message waits for room in the computer's queue; of a group: all that are not delivered wait so. */
  held: boolean;
  /** Of a group that is due: nothing of it is free to go, and something is due later. */
  onlyLater: boolean;
}

/**
 * The status as it is read: a delivery in the future and a full queue are not stored, they are seen.
 * @see docs/api-conventions.md#activity-statuses
 */
export function readStatus(stored: StoredPosition, now: Date): ActivityStatus {
  if (stored.status !== 'undelivered') return stored.status;
  if (stored.onlyLater || (stored.deliverAt !== null && stored.deliverAt > now)) return 'scheduled';
  return stored.held ? 'waiting' : 'undelivered';
}
