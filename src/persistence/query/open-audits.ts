import { isOpen } from '../database/status-sql.ts';

/** Select of the computers on which an operation of a run has not ended. @param profile - SQL of the id of a profile */
export const busyWith = (profile: string) => `
  select distinct k.computer_id
  from usg_run r join activity a on a.id = r.activity_id and a.open_count > 0
  join activity k on k.parent_id = a.id
  where r.profile_id = ${profile} and ${isOpen('k.status')}`;

/**
 * Select of the computers with an open audit: a step of a run has not ended, or its report is awaited; some repeatedly.
 *
 * @param profile - SQL of the id of a profile
 */
export const openAuditsOf = (profile: string) => `${busyWith(profile)}
  union all
  select u.computer_id from usg_run r join usg_audit u on u.run_id = r.id
  where r.profile_id = ${profile} and r.in_progress_count > 0 and u.state = 'in-progress'`;
