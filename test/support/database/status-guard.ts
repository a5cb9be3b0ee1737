import { ACTIVITY_STATUSES, TRANSITIONS } from '../../../src/domain/activities/status.ts';
import type { Sql } from '../../../src/persistence/database/sql.ts';

/** Makes the database reject every change of an operation's status that the table of transitions does not have. */
export async function guardStatuses(db: Sql): Promise<void> {
  const allowed = ACTIVITY_STATUSES.flatMap((from) => TRANSITIONS[from].map((to) => `('${from}', '${to}')`));
  await db.query(`
    create function check_transition() returns trigger language plpgsql as $$
    begin
      if (old.status, new.status) not in (${allowed.join(', ')}) then
        raise exception 'activity % went from % to %', old.id, old.status, new.status;
      end if;
      return null;
    end $$`);
  await db.query(`
    create trigger transition_check after update of status on activity for each row
    when (old.status is distinct from new.status and new.computer_id is not null) execute function check_transition()`);
}
