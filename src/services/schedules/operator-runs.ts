import { isByOperator } from '../../domain/schedules/plan.ts';
import { isScheduleOrdered } from '../../persistence/schedules/schedule-orders.repository.ts';
import type { Sql } from '../../persistence/database/sql.ts';

/**
 * Whether a run that no plan holds was asked for by an operator. It was not while the schedule may be of before the last
 * edit of its profile.
 *
 * @param run.editedAt - when the profile was edited last
 */
export async function isOperatorsRun(
  tx: Sql,
  scheduleId: string,
  { editedAt, nominalTime, now }: { editedAt: Date; nominalTime: Date; now: Date },
): Promise<boolean> {
  return isByOperator(editedAt, nominalTime, now) && !(await isScheduleOrdered(tx, scheduleId));
}
