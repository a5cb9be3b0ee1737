import { type ActivityStatus, canTransition, FINAL_STATUSES } from '../../domain/activities/status.ts';

/** SQL list of statuses, for `in`. */
export function statusList(statuses: readonly ActivityStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}

/**
 * The `where` condition of a statement that changes statuses. Every statement that writes the status of an operation or
 * a report uses it, directly or for selecting its rows, so that only the transitions of the table are possible. The
 * status of a group follows from its operations.
 * @param column - the status as stored, with its table's alias
 * @throws when the table does not allow one of them, which happens when the module of the statement is loaded
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
