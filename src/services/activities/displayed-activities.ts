import { type ActivityActions, type ActivitySubject, actionsOf } from '../../domain/activities/eligibility.ts';
import { readStatus } from '../../domain/activities/reading.ts';
import type { ActivityStatus } from '../../domain/activities/status.ts';
import { shownResult } from '../../domain/scripts/result.ts';
import type { ActivityRow, BaseActivityRow, ChildRow, ParentRow } from '../../persistence/activities/activities.sql.ts';

type Position = 'deliver_at' | 'held' | 'only_later';

export type BaseActivity = Omit<BaseActivityRow, Position>;

export type ParentActivity = Omit<ParentRow, Position>;

export type ChildActivity = Omit<ChildRow, Position>;

export interface DetailedActivity extends Omit<ActivityRow, Position> {
  children: ChildActivity[];
  actions: ActivityActions;
}

/** Computes the displayed status and result. */
export function toBaseActivity<T extends BaseActivityRow>(row: T, now: Date): T & { status: ActivityStatus } {
  const { deliver_at: deliverAt, held, only_later: onlyLater } = row;
  const status = readStatus({ status: row.status, deliverAt, held, onlyLater }, now);
  return { ...row, status, result_text: shownResult(row) };
}

/** As {@link toBaseActivity}, with children and the caller's possible actions. */
export function toDetailedActivity(row: ActivityRow, children: readonly ChildRow[], now: Date): DetailedActivity {
  const activity = toBaseActivity(row, now);
  return {
    ...activity,
    children: children.map((child) => toBaseActivity(child, now)),
    actions: actionsOf(subjectOf(row), row.manageable),
  };
}

/** The fields that determine the possible actions. */
export function subjectOf(row: ActivityRow): ActivitySubject {
  return {
    type: row.type,
    status: row.status,
    childTypes: row.child_types,
    childrenCount: row.children_count,
    undoable: row.undoable,
    lost: row.lost,
    runnable: row.runnable,
  };
}
