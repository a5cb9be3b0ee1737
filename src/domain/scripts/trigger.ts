/** The one event that runs profiles: a computer has been enrolled. */
export const POST_ENROLLMENT = 'post_enrollment';

/** When a script profile runs. `timezone`: IANA name; cron text means what clocks there show. */
export type Trigger =
  | { type: 'event'; eventType: typeof POST_ENROLLMENT }
  | { type: 'one_time'; timestamp: Date }
  | { type: 'recurring'; startAfter: Date; interval: string; timezone: string };

export type TriggerType = Trigger['type'];

/** A trigger as it stands. */
export interface TriggerState {
  lastRun: Date | null;
  /** Null when there will be none. */
  nextRun: Date | null;
  /** A one-time run has started. */
  isFinished: boolean;
}

/**
 * Whether the one run of a one-time trigger was started, be it by an operator before its time.
 * @param profile.last_run - start of the latest run of this trigger; null before the first
 */
export function hasRunOnce({ trigger, last_run }: { trigger: Trigger; last_run: Date | null }): boolean {
  return trigger.type === 'one_time' && last_run !== null;
}

/** Tells whether two triggers mean the same runs, so that those of the one count as those of the other. */
export function hasSameRuns(before: Trigger, after: Trigger): boolean {
  if (before.type === 'one_time' && after.type === 'one_time') {
    return before.timestamp.getTime() === after.timestamp.getTime();
  }
  return before.type === after.type;
}
