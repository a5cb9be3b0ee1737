import { activeProfilesOf } from '../query/profile-scope.ts';

/** SQL over a computer `c`: selects of `id`, `name`, `title` and `type` of its profiles, one per table of profiles. */
const PROFILE_PARTS: readonly string[] = [
  `select p.id, p.name, p.title, p.type
   from computer_profile m join profile p on p.account_id = m.account_id and p.type = m.type and p.id = m.profile_id
   where m.computer_id = c.id`,
  `select p.id, p.name, p.title, 'usg' as type from (${activeProfilesOf('usg', 'c')}) p`,
  `select p.id, p.name, p.title, 'script' as type from (${activeProfilesOf('script', 'c')}) p`,
];

/**
 * SQL over a computer `c`: the JSON array of its profiles, ordered by name.
 * @param only - SQL filter over `p`
 * @see docs/api-conventions.md#optional-blocks
 */
export function profilesOf(only = 'true'): string {
  return `(select coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'title', p.title, 'type', p.type)
    order by p.name collate "C", p.type, p.id), '[]'::json) from (${PROFILE_PARTS.join(' union all ')}) p where ${only})`;
}
