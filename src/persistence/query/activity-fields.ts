import { REVERSIBLE_TYPES } from '../../domain/activities/kinds.ts';
import { FINAL_STATUSES } from '../../domain/activities/status.ts';
import { statusList } from '../database/status-sql.ts';
import { NOW } from './compilation.ts';
import { beyondBound } from './delivery-conditions.ts';

/** Over the alias `a` of `activity`: a child of it, as `k`, meets the condition; true or false. */
// In index order, or PostgreSQL would scan the table; `is true` prevents a join that sorts all children.
export const anyChild = (condition: string) => `(
      select true from activity k where k.parent_id = a.id and (${condition}) is true order by k.id limit 1) is true`;

const IS_BOUNDED = '(select b.max_message_backlog from account b where b.id = a.account_id) is not null';

const IS_FREE = `k.status = 'undelivered' and (k.deliver_at > ${NOW}) is not true and not ${beyondBound('k', NOW)}`;

const heldIf = (condition: string) => `case
    when a.status <> 'undelivered' or a.deliver_at > ${NOW} or not (${IS_BOUNDED} or a.after_activity_id is not null)
      then false
    ${condition} end`;

/** Over `a`: due, waits for room in its computer's queue; a group: all undelivered do, or wait for an activity. */
// A group is checked only while it is new, and only in accounts with a limit, up to its first deliverable child.
export const HELD = heldIf(`when a.computer_id is not null then ${beyondBound('a', NOW)}
    else a.children_count > 0 and not ${anyChild(IS_FREE)}`);

/** As {@link HELD}, of an operation. */
// PostgreSQL's estimate for reading the children would hide the cost of a bad join of 10,000 operations.
export const OPERATION_HELD = heldIf(`else ${beyondBound('a', NOW)}`);

/** Over the alias `a` of `activity`: a due group of which no operation may be delivered and some are due later. */
// Without a window everything is due at once; before any end, and without a limit, children are rarely read.
export const ONLY_LATER = `case
    when a.status <> 'undelivered' or a.children_count = 0 or a.deliver_at > ${NOW} then false
    when a.after_activity_id is null
      and (a.deliver_delay_window = 0 or not (a.canceled_count + a.failed_count > 0 or ${IS_BOUNDED})) then false
    when ${anyChild(IS_FREE)} then false
    else ${anyChild(`k.status = 'scheduled' or (k.status = 'undelivered' and k.deliver_at > ${NOW})`)} end`;

// In index order, as above: cancels are rare, and without one no row is checked.
const ANY_CANCEL = `(select true from agent_inbox where kind = 'cancel' order by lane_id, activity_id limit 1) is true`;

const cancelWaits = (batch: string, activity: string) => `exists (
      select from agent_inbox i where i.kind = 'cancel' and i.lane_id = ${batch} and i.activity_id ${activity})`;

const NOT_PENDING = `a.status in ${statusList(FINAL_STATUSES)} or not ${ANY_CANCEL}`;
const OPERATION_CANCEL = `${cancelWaits('a.lane_id', '= a.id')} or ${cancelWaits('a.lane_id', 'is null')}`;

/** As {@link CANCEL_REQUESTED}, of an operation. */
export const OPERATION_CANCEL_REQUESTED = `case when ${NOT_PENDING} then false else ${OPERATION_CANCEL} end`;

/** Over `a` of `activity`, never null: open, with an accepted cancel of itself, its batch, or all open operations. */
export const CANCEL_REQUESTED = `case when ${NOT_PENDING} then false
    when a.lane_id is not null then ${OPERATION_CANCEL}
    else exists (select from lane l where l.parent_id = a.id and ${cancelWaits('l.id', 'is null')}) end`;

const REVERSIBLE = REVERSIBLE_TYPES.map((type) => `'${type}'`).join(', ');

/** Of an operation: a revert of it is open or done; true or false. */
// A scalar, here and below: where statistics know few rows, PostgreSQL would hash the whole table for an EXISTS.
export const isReverted = (operation: string) => `(
      select r.status not in ('failed', 'canceled') from activity r where r.id = ${operation}.reverted_by) is true`;

// Changed something, as far as is known, and was not reverted.
const inForce = (operation: string) => `${operation}.status = 'succeeded'
    and ${operation}.type in (${REVERSIBLE})
    and (${operation}.type like '%Snaps' or ${operation}.changes <> '[]')
    and (select b.idle from snap_operation_before b where b.activity_id = ${operation}.id) is not true
    and not ${isReverted(operation)}`;

const isHere = (operation: string) => `(select not c.archived from computer c where c.id = ${operation}.computer_id)`;

/** Over `a` of `activity`: succeeded, invertible, not fully reverted; an ended group: one on a remaining computer. */
export const UNDOABLE = `case when a.computer_id is not null then ${inForce('a')}
    when a.open_count > 0 or a.succeeded_count = 0 or not a.child_types && array[${REVERSIBLE}] then false
    else ${anyChild(`${inForce('k')} and ${isHere('k')}`)} end`;

const LEFT = `(select c.id from computer c where c.account_id = :accountId and c.archived
    union all select r.id from removed_computer r where r.account_id = :accountId)`;

/** Over `a` of `:accountId`: ended, a computer is archived or removed. @param groups - operator, ids of all groups */
export const lostAmong = (
  groups: string,
) => `case when a.status in ${statusList(FINAL_STATUSES)} and exists ${LEFT} then
    case when a.computer_id is not null then a.computer_id in ${LEFT}
    else a.id in (select k.parent_id from activity k where k.parent_id ${groups} and k.computer_id in ${LEFT}) end
    else false end`;
