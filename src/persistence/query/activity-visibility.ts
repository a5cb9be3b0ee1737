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

/** The parameters of the conditions of this file. */
export function scopeParameters(scope: ActivityScope) {
  return {
    accountId: scope.accountId,
    view: groupsOf(scope.view),
    manage: groupsOf(scope.manage),
    execute: groupsOf(scope.execute),
    usgProfiles: groupsOf(scope.usgProfiles),
    scriptProfiles: groupsOf(scope.scriptProfiles),
  };
}

/** The caller sees the whole account. */
export function hasFullView(scope: ActivityScope): boolean {
  return scope.view === 'all' && scope.usgProfiles === 'all' && scope.scriptProfiles === 'all';
}

const computersIn = (groups: string) =>
  `(select c.id from computer c where c.account_id = :accountId and c.access_group_id = any(${groups})
    union all select r.id from removed_computer r where r.account_id = :accountId and r.access_group_id = any(${groups}))`;

/** SQL in brackets of the computers that the caller sees. */
export const VISIBLE_COMPUTERS = computersIn(':view');

// Activities without any computer belong to a profile or a script: a report, or a run that found nothing to do.
const ON_NO_COMPUTER = 'a.parent_id is null and a.computer_id is null and a.children_count = 0';
const ownerAmong = (owners: string, id: string, groups: string) => `(${groups}::int[] is null
      or (a.parameters->>'${id}')::int in (
        select p.id from ${owners} p where p.account_id = :accountId and p.access_group_id = any(${groups})))`;
// The two kinds of profiles are numbered separately; runs of script profiles are ordinary groups, also of their script.
const profileIn = (usgGroups: string, scriptGroups: string) => `case when a.type = '${ACTIVITY_GROUP}'
      then ${ownerAmong('script', 'script_id', scriptGroups)} else ${ownerAmong('usg_profile', 'profile_id', usgGroups)} end`;
const VISIBLE_PROFILE = profileIn(':usgProfiles', ':scriptProfiles');

const visible = (inAccount: string) => `${inAccount}
  and ((:view::int[] is null and :usgProfiles::int[] is null and :scriptProfiles::int[] is null)
    or case when ${ON_NO_COMPUTER} then ${VISIBLE_PROFILE}
      else :view::int[] is null or a.computer_id in ${VISIBLE_COMPUTERS}
        or (a.computer_id is null and ${anyChild(`k.computer_id in ${VISIBLE_COMPUTERS}`)}) end)`;

/** Over `a`, with {@link scopeParameters}: by its (last) access group, any child, or its profile or script. */
export const VISIBLE = visible('a.account_id = :accountId');

/** As {@link VISIBLE}, of activities that are found by their own ids or those of their groups. */
// No index of accounts applies: before the first statistics, PostgreSQL would read all activities of the account.
export const VISIBLE_BY_KEY = visible('(a.account_id = :accountId) is true');

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
  VISIBLE_COMPUTERS,
  `
    union all select a.id, null::int from activity a
    where a.account_id = :accountId and ${ON_NO_COMPUTER} and ${VISIBLE_PROFILE}`,
);

const manageableIn = (groups: string) => `(${groups}::int[] is null or case when a.computer_id is not null
      then a.computer_id in ${computersIn(groups)}
      when ${ON_NO_COMPUTER} then ${profileIn(groups, groups)}
      else not ${anyChild(`k.computer_id not in ${computersIn(groups)}`)} end)`;

/** Over the alias `a` of `activity`: the caller may act on all of its computers. True or false. */
export const MANAGEABLE = manageableIn(':manage');

// All operations of a run use one script.
const BARRED = `exists (
      select from operation_payload p join script s on s.id = p.script_id
        and (s.status = 'redacted' or s.access_group_id <> all(:execute::int[]))
      where p.id = case when a.computer_id is not null then a.payload_id
        else (select k.payload_id from activity k where k.parent_id = a.id order by k.id limit 1) end)`;

/** Over the alias `a` of `activity`: not a script, or one that is not redacted and that the caller may run there. */
export const RUNNABLE = `case
      when a.type <> '${EXECUTE_SCRIPT}' and not '${EXECUTE_SCRIPT}' = any(a.child_types) then true
      when ${BARRED} then false else ${manageableIn(':execute')} end`;
