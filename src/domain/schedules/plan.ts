export const PLANNED_DATES = 26;
export const REFILL_BELOW = 13;
/** Maximum age of an operator's run, and minimum time between the last edit and the run. */
const OPERATOR_MS = 60_000;
/** Maximum difference between the clocks of two servers. */
const SKEW_MS = 60_000;
export const FIRST_DATE = new Date(Date.UTC(1900, 0, 1));
/** Calendars of the Temporal server end with the year 2099. */
export const LAST_DATE = new Date(Date.UTC(2100, 0, 1));

/** The first planned date after `now`; null for none. Dates ascend. */
export function nextDate(planned: readonly Date[], now: Date): Date | null {
  return planned.find((date) => date > now) ?? null;
}

/** The latest planned date up to `now`; null for none. */
export function lastDueDate(planned: readonly Date[], now: Date): Date | null {
  return planned.findLast((date) => date <= now) ?? null;
}

/** Whether a date lies in the future by more than the clock difference, so that its run must not start yet. */
export function isAhead(scheduledTime: Date, now: Date): boolean {
  return scheduledTime.getTime() - now.getTime() > SKEW_MS;
}

/** Whether fewer than {@link REFILL_BELOW} planned dates remain. */
export function needsRefill(planned: readonly Date[], now: Date): boolean {
  return planned.filter((date) => date > now).length < REFILL_BELOW;
}

/** Whether an operator started an unplanned run: its time is about now, and not shortly after an edit of the profile. */
export function isByOperator(editedAt: Date, scheduledTime: Date, now: Date): boolean {
  const isNow = now.getTime() - scheduledTime.getTime() <= OPERATOR_MS;
  return isNow && scheduledTime.getTime() - editedAt.getTime() > OPERATOR_MS;
}
