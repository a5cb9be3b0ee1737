import { REPORT_ACTIVITY } from '../../domain/usg/report.ts';
import { USG_ACTIVITY } from '../../domain/usg/run-steps.ts';
import { anyChild } from './activity-fields.ts';
import { type GroupScope, groupsOf } from './group-scope.ts';

/** Whose activities, and which of them may be seen and acted on. */
export interface ActivityScope {
  accountId: number;
  view: GroupScope;
  manage: GroupScope;
  /** Where profiles may be seen: activities on no computer go by theirs. */
  profiles: GroupScope;
}

/** The first three parameters of {@link VISIBLE} and {@link SEEN}. */
export function seenBy({
  accountId,
  view,
  profiles,
}: ActivityScope): [number, readonly number[] | null, readonly number[] | null] {
  return [accountId, groupsOf(view), groupsOf(profiles)];
}

const computersIn = (groups: string) =>
  `(select c.id from computer c where c.account_id = $1 and c.access_group_id = any(${groups})
    union all select r.id from removed_computer r where r.account_id = $1 and r.access_group_id = any(${groups}))`;

// What is on no computer at all belongs to a profile: a report, a run that found nothing to do.
const ON_NO_COMPUTER = `a.computer_id is null and a.children_count = 0
    and a.type in ('${USG_ACTIVITY}', '${REPORT_ACTIVITY}')`;
const profileIn = (groups: string) => `(a.parameters->>'profile_id')::int in (
      select p.id from usg_profile p
      where p.account_id = $1 and (${groups}::int[] is null or p.access_group_id = any(${groups})))`;

/**
 * Over the alias `a` of `activity`, with the first three parameters of {@link seenBy}: visible when its computer is, a
 * parent when any child is, what is on no computer when its profile is. A removed computer counts where it last was.
 */
export const VISIBLE = `a.account_id = $1 and ($2::int[] is null or a.computer_id in ${computersIn('$2')}
    or (a.computer_id is null and ${anyChild(`k.computer_id in ${computersIn('$2')}`)})
    or (${ON_NO_COMPUTER} and ${profileIn('$3')}))`;

// From the computers, which costs as much as there is on them; asked row by row, groups cost all their children. No group
// has a computer itself, so that nothing is there twice.
const withOperationsOn = (computers: string, further = '') => `with own as materialized (
    select k.id, k.parent_id from activity k where k.computer_id in ${computers}
  ), found as materialized (
    select id, parent_id from own
    union all select distinct parent_id, null::int from own where parent_id is not null${further}
  )`;

/**
 * `with` of the table `found (id, parent_id)`: operations on some computers and the groups they are in.
 *
 * @param computers - SQL of their ids in brackets
 */
export const onComputers = (computers: string) => withOperationsOn(computers);

/** As {@link onComputers}, with all that is {@link VISIBLE} to one who sees only some access groups. */
export const SEEN = withOperationsOn(
  computersIn('$2'),
  `
    union all select a.id, null::int from activity a
    where a.account_id = $1 and a.parent_id is null and ${ON_NO_COMPUTER} and ${profileIn('$3')}`,
);

/** Over the alias `a` of `activity`: the caller may act on every computer concerned. True or false. */
export const manageableIn = (groups: string) => `(${groups}::int[] is null or case when a.computer_id is not null
      then a.computer_id in ${computersIn(groups)}
      when ${ON_NO_COMPUTER} then ${profileIn(groups)}
      else a.children_count > 0 and not ${anyChild(`k.computer_id not in ${computersIn(groups)}`)} end)`;
