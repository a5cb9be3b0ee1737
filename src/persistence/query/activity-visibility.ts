import { ACTIVITY_GROUP } from '../../domain/activities/kinds.ts';
import { EXECUTE_SCRIPT } from '../../domain/scripts/result.ts';
import { anyChild } from './activity-fields.ts';
import { type GroupScope, groupsOf } from './group-scope.ts';

export interface ActivityScope {
  accountId: number;
  view: GroupScope;
  manage: GroupScope;
  execute: GroupScope;
  /** Where profiles are visible: these decide for activities without a computer. */
  usgProfiles: GroupScope;
  scriptProfiles: GroupScope;
}

type Groups = readonly number[] | null;

/** The first four parameters of {@link VISIBLE} and {@link VISIBLE_ACTIVITIES}. */
export function visibilityParameters({
  accountId,
  view,
  usgProfiles,
  scriptProfiles,
}: ActivityScope): [number, Groups, Groups, Groups] {
  return [accountId, groupsOf(view), groupsOf(usgProfiles), groupsOf(scriptProfiles)];
}

/** The caller sees the whole account. */
export function hasFullView(scope: ActivityScope): boolean {
  return scope.view === 'all' && scope.usgProfiles === 'all' && scope.scriptProfiles === 'all';
}

/** SQL in brackets of the computers in some access groups, with the account as first parameter. */
export const computersIn = (groups: string) =>
  `(select c.id from computer c where c.account_id = $1 and c.access_group_id = any(${groups})
    union all select r.id from removed_computer r where r.account_id = $1 and r.access_group_id = any(${groups}))`;

// Activities without any computer belong to a profile or a script: a report, or a run that found nothing to do.
const ON_NO_COMPUTER = 'a.parent_id is null and a.computer_id is null and a.children_count = 0';
const ownerAmong = (owners: string, id: string, groups: string) => `(${groups}::int[] is null
      or (a.parameters->>'${id}')::int in (
        select p.id from ${owners} p where p.account_id = $1 and p.access_group_id = any(${groups})))`;
// The two kinds of profiles are numbered separately; runs of script profiles are ordinary groups, also of their script.
const profileIn = (usgGroups: string, scriptGroups: string) => `case when a.type = '${ACTIVITY_GROUP}'
      then ${ownerAmong('script', 'script_id', scriptGroups)} else ${ownerAmong('usg_profile', 'profile_id', usgGroups)} end`;

/** Over `a`, with {@link visibilityParameters}: by its (last) access group, any child, or its profile or script. */
export const VISIBLE = `a.account_id = $1 and (($2::int[] is null and $3::int[] is null and $4::int[] is null)
    or case when ${ON_NO_COMPUTER} then ${profileIn('$3', '$4')}
      else $2::int[] is null or a.computer_id in ${computersIn('$2')}
        or (a.computer_id is null and ${anyChild(`k.computer_id in ${computersIn('$2')}`)}) end)`;

// From the computers, which bound the cost. Groups have none of their own, so that there are no duplicates.
const withOperationsOn = (computers: string, further = '') => `with own as materialized (
    select k.id, k.parent_id from activity k where k.computer_id in ${computers}
  ), found as materialized (
    select id, parent_id from own
    union all select distinct parent_id, null::int from own where parent_id is not null${further}
  )`;

/** `with found (id, parent_id)`: operations on computers and their groups. @param computers - SQL of ids in brackets */
export const onComputers = (computers: string) => withOperationsOn(computers);

/** As {@link onComputers}, for everything {@link VISIBLE} with restricted access groups. */
export const VISIBLE_ACTIVITIES = withOperationsOn(
  computersIn('$2'),
  `
    union all select a.id, null::int from activity a
    where a.account_id = $1 and ${ON_NO_COMPUTER} and ${profileIn('$3', '$4')}`,
);

/** Over the alias `a` of `activity`: the caller may act on all of its computers. True or false. */
export const manageableIn = (groups: string) => `(${groups}::int[] is null or case when a.computer_id is not null
      then a.computer_id in ${computersIn(groups)}
      when ${ON_NO_COMPUTER} then ${profileIn(groups, groups)}
      else not ${anyChild(`k.computer_id not in ${computersIn(groups)}`)} end)`;

// All operations of a run use one script.
const barredIn = (groups: string) => `exists (
      select from operation_payload p join script s on s.id = p.script_id
        and (s.status = 'redacted' or s.access_group_id <> all(${groups}::int[]))
      where p.id = case when a.computer_id is not null then a.payload_id
        else (select k.payload_id from activity k where k.parent_id = a.id order by k.id limit 1) end)`;

/** Over the alias `a` of `activity`: not a script, or one that is not redacted and that the caller may run there. */
export const runnableIn = (groups: string) => `case
      when a.type <> '${EXECUTE_SCRIPT}' and not '${EXECUTE_SCRIPT}' = any(a.child_types) then true
      when ${barredIn(groups)} then false else ${manageableIn(groups)} end`;
