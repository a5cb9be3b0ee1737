import { type ActivityActions, actionsOf } from '../domain/activity/eligibility.ts';
import { readStatus } from '../domain/activity/reading.ts';
import type { ActivityStatus } from '../domain/activity/status.ts';
import type { ActivityRow, BaseActivityRow, ParentRow } from '../persistence/repositories/activities.repository.ts';

/** An activity as it is read; `status` is the one shown. */
export type BaseActivity = Omit<BaseActivityRow, 'deliver_at' | 'held'>;

export type ParentActivity = Omit<ParentRow, 'deliver_at' | 'held'>;

export interface DetailedActivity extends Omit<ActivityRow, 'deliver_at' | 'held'> {
  children: BaseActivity[];
  actions: ActivityActions;
}

/** Derives the status shown from the row. */
export function toBaseActivity<T extends BaseActivityRow>(row: T, now: Date): T & { status: ActivityStatus } {
  return { ...row, status: readStatus({ status: row.status, deliverAt: row.deliver_at, held: row.held }, now) };
}

/** As {@link toBaseActivity}, with children and what the caller may do. */
export function toDetailedActivity(
  row: ActivityRow,
  children: readonly BaseActivityRow[],
  now: Date,
): DetailedActivity {
  const activity = toBaseActivity(row, now);
  const subject = {
    type: row.type,
    status: activity.status,
    childTypes: row.child_types,
    childrenCount: row.children_count,
    succeededCount: row.succeeded_count,
  };
  return {
    ...activity,
    children: children.map((child) => toBaseActivity(child, now)),
    actions: actionsOf(subject, row.manageable),
  };
}
