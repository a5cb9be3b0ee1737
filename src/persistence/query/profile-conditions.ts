import type { ProfileCriterion } from '../../domain/query/computer-query.ts';
import { ACCOUNT, type Compilation } from './compilation.ts';
import { computersWithOpenAudit, inScope, scopedProfiles } from './profile-scope.sql.ts';

/** Has the profile, in the `status` if any; false for unknown ones. @see docs/api-conventions.md#computer-selectors */
export function profileCondition(profile: ProfileCriterion, compilation: Compilation): string {
  if (profile.type === 'usg') return usgProfile(profile, compilation);
  if (profile.type === 'script') return scriptProfile(profile, compilation);
  return membership(profile, compilation);
}

function membership({ type, id, status }: ProfileCriterion, compilation: Compilation): string {
  const key = `p.account_id = ${ACCOUNT} and p.type = '${type}' and p.profile_id = ${compilation.value(id, 'int')}`;
  const state = status === null ? '' : ` and p.status = ${compilation.value(status, 'text')}`;
  return `exists (select from computer_profile p where p.computer_id = c.id and ${key}${state})`;
}

/** `pass` and `fail` are the last audit result. Materialized to read the profile once, not for every computer. */
function usgProfile({ id, status }: ProfileCriterion, compilation: Compilation): string {
  const profile = compilation.value(id, 'int');
  const active = status === 'in-progress' ? ' and not p.archived' : '';
  const scoped = `${scopedProfiles('usg')} where p.id = ${profile} and p.account_id = ${ACCOUNT}${active}`;
  const associated = `exists (with p as materialized (${scoped}) select from p where ${inScope('c', 'p')})`;
  if (status === null) return associated;
  if (status === 'in-progress') return `(${associated} and c.id in (${computersWithOpenAudit(profile)}))`;
  const result = `(select u.state from usg_audit u
    where u.computer_id = c.id and u.profile_id = ${profile} and u.state in ('pass', 'fail')
    order by u.run_id desc limit 1)`;
  return `(${associated} and coalesce(${result} = ${compilation.value(status, 'text')}, false))`;
}

/** Archived profiles, and those that run at enrolments, have no associated computers. */
function scriptProfile({ id }: ProfileCriterion, compilation: Compilation): string {
  const scoped = `${scopedProfiles('script')} where p.id = ${compilation.value(id, 'int')}
    and p.account_id = ${ACCOUNT} and not p.archived and p.trigger_type <> 'event'`;
  return `exists (with p as materialized (${scoped}) select from p where ${inScope('c', 'p')})`;
}
