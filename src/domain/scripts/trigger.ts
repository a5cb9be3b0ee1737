export const POST_ENROLLMENT = 'post_enrollment';

/** When a script profile runs. `timezone`: IANA name; cron text is in local time. */
export type Trigger =
  | { type: 'event'; eventType: typeof POST_ENROLLMENT }
  | { type: 'one_time'; timestamp: Date }
  | { type: 'recurring'; startAfter: Date; interval: string; timezone: string };

export interface TriggerState {
  lastRun: Date | null;
  nextRun: Date | null;
  isFinished: boolean;
}

/** Whether a one-time trigger has run, possibly early. */
export function hasRunOnce({ trigger, last_run }: { trigger: Trigger; last_run: Date | null }): boolean {
  return trigger.type === 'one_time' && last_run !== null;
}

/** Whether two triggers have the same runs, so that past runs count for both. */
export function hasSameRuns(before: Trigger, after: Trigger): boolean {
  if (before.type === 'one_time' && after.type === 'one_time') {
    return before.timestamp.getTime() === after.timestamp.getTime();
  }
  return before.type === after.type;
}
