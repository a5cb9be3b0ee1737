import type { Delivery } from '../../domain/activities/delivery.ts';
import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { readBaseActivity } from '../../persistence/activities/activities.sql.ts';
import {
  createGroups,
  createPerComputerGroup,
  type EmptyRun,
  type GroupPlan,
  insertEmptyRun,
  type OperationTemplate,
  type PerComputerGroupPlan,
} from '../../persistence/activities/activity-creation.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { ActivitySettings } from '../../process/config.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { type BaseActivity, toBaseActivity } from './displayed-activities.ts';
import { requirePrior } from './prior-activity.ts';

export interface ActingDeps {
  db: Database;
  clock: Clock;
  settings: ActivitySettings;
}

export interface ActionRequest {
  /** ISO 8601; null: immediately. */
  deliverAfter: string | null;
  windowMinutes: number;
  /** Activity that must succeed on each computer first; null for none. */
  after: number | null;
  traceparent: string | null;
}

export interface ComputerAction extends Delivery {
  /** Distinct. */
  computers: readonly number[];
  after: number | null;
  summary: string;
  operations: readonly OperationTemplate[] | Pick<PerComputerGroupPlan, 'messages' | 'operations'>;
  parameters: Readonly<Record<string, unknown>>;
  traceparent: string | null;
  event: string;
}

/** Creates a group and its event; without computers, it has succeeded. @throws {DomainError} as {@link requirePrior} */
export async function createAction(
  tx: Sql,
  caller: Caller,
  action: ComputerAction,
  at: { now: Date; settings: ActivitySettings },
): Promise<BaseActivity> {
  const { event, after, operations, ...rest } = action;
  const afterActivity = await requirePrior(tx, caller, after, action.computers, at.now);
  const who = { accountId: caller.accountId, creatorId: caller.personId };
  const plan = { ...rest, ...who, afterActivity, type: ACTIVITY_GROUP, now: at.now };
  const group = await createGroupOf(tx, plan, operations, at.settings);
  await recordEvent(tx, caller, {
    entityType: 'Activity',
    entityId: group,
    entityName: action.summary,
    message: event,
  });
  return toBaseActivity(await readBaseActivity(tx, group, at.now), at.now);
}

async function createGroupOf(
  tx: Sql,
  plan: Omit<GroupPlan, 'operations'> & EmptyRun,
  operations: ComputerAction['operations'],
  settings: ActivitySettings,
): Promise<number> {
  if (plan.computers.length === 0) return await insertEmptyRun(tx, plan);
  if ('messages' in operations) return await createPerComputerGroup(tx, { ...plan, ...operations }, settings);
  const [id] = await createGroups(tx, [{ ...plan, operations }], settings);
  return id!;
}
