import { REVERSIBLE_TYPES } from '../../domain/activity/kinds.ts';
import { FINAL_STATUSES } from '../../domain/activity/status.ts';
import { statusList } from '../status-sql.ts';

/**
 * Over the alias `a` of `activity`: a child of it, as `k` with its message `m`, fulfils the condition; true or false.
 */
// Children are asked in index order with a limit: PostgreSQL takes them for spread over the table and would read it all.
// With `is true` a condition stays one: as a join PostgreSQL would read and sort all children to find the first.
export const anyChild = (condition: string) => `(
      select true from activity k left join agent_message m on m.activity_id = k.id
      where k.parent_id = a.id and (${condition}) is true order by k.id limit 1) is true`;

/**
 * Over the alias `a` of `activity`: what is not delivered waits for room in a queue; of a group, all of it does. True or
 * false.
 */
// A group is asked only while it is fresh; the first child with a message that is not held answers.
export const HELD = `case when a.status <> 'undelivered' then false
    when a.computer_id is not null then
      exists (select from agent_message m where m.activity_id = a.id and m.state = 'held')
    else a.children_count > 0 and not ${anyChild(`k.status = 'undelivered' and m.state is distinct from 'held'`)} end`;

/**
 * As {@link HELD}, and false before its time has come: then messages are held without waiting for room, and a group would
 * be asked about all its operations for nothing.
 *
 * @param now - SQL of the present moment
 */
export const heldAt = (now: string) => `case when a.deliver_at > ${now} then false else ${HELD} end`;

// In the order of its index, or old statistics of many could make PostgreSQL read all messages to find none.
const ANYTHING_HELD = `(select true from agent_message where state = 'held' order by computer_id, activity_id limit 1) is true`;

/**
 * Over the alias `a` of `activity`: a group whose time has come, and yet nothing of it is free to go and something is due
 * later. True or false.
 *
 * @param now - SQL of the present moment
 */
// Only a window makes moments differ, and without held messages what is due is free: no child is asked but in rare cases.
export const onlyLater = (now: string) => `case
    when a.status <> 'undelivered' or a.deliver_delay_window = 0 or a.children_count = 0 or a.deliver_at > ${now}
      or not ${ANYTHING_HELD} then false
    when ${anyChild(
      `k.status = 'undelivered' and (k.deliver_at > ${now}) is not true and m.state is distinct from 'held'`,
    )} then false
    else ${anyChild(`k.status = 'scheduled' or (k.status = 'undelivered' and k.deliver_at > ${now})`)} end`;

const REVERSIBLE = REVERSIBLE_TYPES.map((type) => `'${type}'`).join(', ');

// Changed something that is known or taken for granted, and no undoing of it is open or done.
const inForce = (operation: string) => `${operation}.status = 'succeeded'
    and ${operation}.type in (${REVERSIBLE})
    and (${operation}.type like '%Snaps' or ${operation}.changes <> '[]')
    and not exists (select from snap_operation_before b where b.activity_id = ${operation}.id and b.idle)
    and not exists (
      select from activity r where r.id = ${operation}.reverted_by and r.status not in ('failed', 'canceled'))`;

/**
 * Over the alias `a` of `activity`: it succeeded, is of a type with an inverse, and something of it is not undone; of a
 * group, of one operation.
 */
export const UNDOABLE = `case when a.status <> 'succeeded' then false when a.computer_id is not null then ${inForce('a')}
    else a.child_types && array[${REVERSIBLE}] and ${anyChild(inForce('k'))} end`;

const LEFT = `(select c.id from computer c where c.account_id = $1 and c.archived
    union all select r.id from removed_computer r where r.account_id = $1)`;

/**
 * Over the alias `a` of `activity` of the account `$1`: it has ended, and one of its computers is archived or gone.
 *
 * @param groups - what follows the ids of all groups that are asked about, with its operator
 */
// Most accounts have lost few computers: their operations are fewer than those of all groups on a page.
export const lostAmong = (
  groups: string,
) => `case when a.status in ${statusList(FINAL_STATUSES)} and exists ${LEFT} then
    case when a.computer_id is not null then a.computer_id in ${LEFT}
    else a.id in (select k.parent_id from activity k where k.parent_id ${groups} and k.computer_id in ${LEFT}) end
    else false end`;
