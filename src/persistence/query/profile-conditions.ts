import type { ProfileCriterion, ProfileType } from '../../domain/query/computer-query.ts';
import { inScope, scopedProfiles } from '../repositories/profile-scope.ts';
import type { Compilation } from './compilation.ts';

/**
 * SQL over `c`, never null: the computer is associated with the profile of that id, and stands as `status` says where
 * one is given. An id that no profile of the account has is fulfilled by no computer.
 */
type ProfileCondition = (profile: ProfileCriterion, compilation: Compilation) => string;

/** One entry for every kind of profile. @see api-decisions 8 */
const BY_TYPE: Readonly<Record<ProfileType, ProfileCondition>> = {
  usg: usgProfile,
  script: scriptProfile,
  repository: membership,
  package: membership,
  upgrade: membership,
  reboot: membership,
  removal: membership,
  wsl: membership,
};

/** The computer is associated with the profile. */
export function profileCondition(profile: ProfileCriterion, compilation: Compilation): string {
  return BY_TYPE[profile.type](profile, compilation);
}

/** The computer is associated with any upgrade profile. */
export function upgradeProfileCondition(): string {
  return `exists (select from computer_profile p where p.computer_id = c.id and p.type = 'upgrade')`;
}

function membership({ type, id, status }: ProfileCriterion, compilation: Compilation): string {
  const key = `p.account_id = ${compilation.account()} and p.type = '${type}' and p.profile_id = ${compilation.value(id, 'int')}`;
  const state = status === null ? '' : ` and p.status = ${compilation.value(status, 'text')}`;
  return `exists (select from computer_profile p where p.computer_id = c.id and ${key}${state})`;
}

/**
 * How a computer stands is what came of its latest run; without one it has not started. The profile is read once, not
 * for every computer: that is what the materialized expression is for.
 */
function usgProfile({ id, status }: ProfileCriterion, compilation: Compilation): string {
  const profile = compilation.value(id, 'int');
  const scoped = `${scopedProfiles('usg')} where p.id = ${profile} and p.account_id = ${compilation.account()}`;
  const associated = `exists (with p as materialized (${scoped}) select from p where ${inScope('c', 'p')})`;
  if (status === null) return associated;
  const latest = `(select u.state from usg_audit u where u.computer_id = c.id and u.profile_id = ${profile}
    order by u.run_id desc limit 1)`;
  const open = `coalesce(${latest}, 'not-started') in ('not-started', 'in-progress')`;
  const standing =
    status === 'in-progress' ? open : `coalesce(${latest} = ${compilation.value(status, 'text')}, false)`;
  return `(${associated} and ${standing})`;
}

/** A profile that runs at enrolments, or is archived, is associated with no computer. */
function scriptProfile({ id }: ProfileCriterion, compilation: Compilation): string {
  const scoped = `${scopedProfiles('script')} where p.id = ${compilation.value(id, 'int')}
    and p.account_id = ${compilation.account()} and not p.archived and p.trigger_type <> 'event'`;
  return `exists (with p as materialized (${scoped}) select from p where ${inScope('c', 'p')})`;
}
