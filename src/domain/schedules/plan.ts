/** Dates planned ahead of a schedule. */
export const PLANNED_DATES = 26;
/** With fewer dates ahead the plan is refilled. */
export const REFILL_BELOW = 13;
/** How old the moment of an operator's run may be, and how long before it the last edit must have been. */
const OPERATOR_MS = 60_000;
/** A server's clock may be ahead of ours by this much. */
const SKEW_MS = 60_000;
/** Rules are counted from their start; it is not before. */
export const FIRST_DATE = new Date(Date.UTC(1900, 0, 1));
/** The server's calendars end with the year 2099. */
export const LAST_DATE = new Date(Date.UTC(2100, 0, 1));

/** The next planned date after `now`; null when there is none. */
export function nextDate(planned: readonly Date[], now: Date): Date | null {
  return planned.find((date) => date > now) ?? null;
}

/** The latest planned date that is due at `now`; null when none is. */
export function lastDueDate(planned: readonly Date[], now: Date): Date | null {
  return planned.findLast((date) => date <= now) ?? null;
}

/** Whether a date still lies ahead, by more than clocks differ: its run must not be made yet. */
export function isAhead(scheduledTime: Date, now: Date): boolean {
  return scheduledTime.getTime() - now.getTime() > SKEW_MS;
}

/** Whether too few dates are ahead. */
export function needsRefill(planned: readonly Date[], now: Date): boolean {
  return planned.filter((date) => date > now).length < REFILL_BELOW;
}

/**
 * Whether an unplanned run was started by an operator: its time is now.
 * @param editedAt - last edit of the profile. Just after it, the run may come from an outdated schedule
 */
export function isByOperator(editedAt: Date, scheduledTime: Date, now: Date): boolean {
  const isNow = now.getTime() - scheduledTime.getTime() <= OPERATOR_MS;
  return isNow && scheduledTime.getTime() - editedAt.getTime() > OPERATOR_MS;
}
