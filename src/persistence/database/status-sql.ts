import { type ActivityStatus, canTransition, FINAL_STATUSES } from '../../domain/activities/status.ts';

/** SQL list of statuses, for `in`. */
export function statusList(statuses: readonly ActivityStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}

/**
 * Condition of every statement that writes the status of an operation or report: the table's transitions alone.
 * @throws when its module is loaded, for another transition @see docs/api-conventions.md#activity-statuses
 */
export function transitionGuard(column: string, from: readonly ActivityStatus[], ...to: readonly ActivityStatus[]) {
  const forbidden = from.filter((before) => !to.every((after) => canTransition(before, after)));
  if (forbidden.length > 0) throw new Error(`no activity goes from ${forbidden.join(', ')} to ${to.join(', ')}`);
  return `${column} in ${statusList(from)}`;
}

/** Condition for activities that have not ended. */
export function isOpen(column: string): string {
  return `${column} not in ${statusList(FINAL_STATUSES)}`;
}

/**
 * Whether such an event is pending for an operation: true or false. A scalar, which PostgreSQL does not turn into a join:
 * with a plan from when the inbox was empty, a join would read all of it.
 */
export function hasPendingEvent(operationId: string, ...kinds: ReadonlyArray<'result' | 'gone' | 'cancel'>): string {
  const list = kinds.map((kind) => `'${kind}'`).join(', ');
  return `coalesce((select true from agent_inbox i where i.activity_id = ${operationId} and i.kind in (${list}) limit 1), false)`;
}

/**
 * A condition on the state of messages that are found by their operations. Written so that the partial index of pending
 * messages does not apply: where statistics know none, PostgreSQL would read all of them, in a join for each operation.
 */
export function withoutPendingIndex(condition: string): string {
  return `(${condition}) is not false`;
}
