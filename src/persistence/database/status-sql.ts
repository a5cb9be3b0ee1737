import { type ActivityStatus, canTransition, FINAL_STATUSES } from '../../domain/activities/status.ts';

/** Statuses as a list for `in`. */
export function statusList(statuses: readonly ActivityStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}

/**
 * Condition under which a statement moves rows from some statuses to another. Every statement that writes a status of an
 * operation or a report has it from here, or acts on rows that one with it picked, so that none can do what the table of
 * transitions does not allow. Groups follow their operations instead.
 *
 * @param column - the status as it is stored, with its table's alias
 * @throws when the table does not allow one of them; statements are made when their module is loaded
 * @see docs/api-conventions.md#activity-statuses
 */
export function movable(column: string, from: readonly ActivityStatus[], ...to: readonly ActivityStatus[]): string {
  const forbidden = from.filter((before) => !to.every((after) => canTransition(before, after)));
  if (forbidden.length > 0) throw new Error(`no activity goes from ${forbidden.join(', ')} to ${to.join(', ')}`);
  return `${column} in ${statusList(from)}`;
}

/** Condition for what has not ended. */
export function isOpen(column: string): string {
  return `${column} not in ${statusList(FINAL_STATUSES)}`;
}
