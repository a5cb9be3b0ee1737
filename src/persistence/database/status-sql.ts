import { type ActivityStatus, canTransition, FINAL_STATUSES } from '../../domain/activities/status.ts';

/** SQL list of statuses, for `in`. */
export function statusList(statuses: readonly ActivityStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}

/**
 * The `where` condition of a statement that changes statuses, so that only transitions of the table are possible. Every
 * statement that writes the status of an operation or report uses it, directly or for selecting its rows. A group's
 * status follows from its operations.
 * @param column - the status as stored, with its table's alias
 * @throws while its module is loaded, when the table does not allow a transition
 * @see docs/api-conventions.md#activity-statuses
 */
export function transitionGuard(
  column: string,
  from: readonly ActivityStatus[],
  ...to: readonly ActivityStatus[]
): string {
  const forbidden = from.filter((before) => !to.every((after) => canTransition(before, after)));
  if (forbidden.length > 0) throw new Error(`no activity goes from ${forbidden.join(', ')} to ${to.join(', ')}`);
  return `${column} in ${statusList(from)}`;
}

/** Condition for activities that have not ended. */
export function isOpen(column: string): string {
  return `${column} not in ${statusList(FINAL_STATUSES)}`;
}
