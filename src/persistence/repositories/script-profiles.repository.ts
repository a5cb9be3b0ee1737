import type { Sql } from '../sql.ts';

/** Puts away the profiles of a script, for good. */
export async function archiveProfilesOfScript(tx: Sql, scriptId: number, now: Date): Promise<void> {
  await tx.query(
    'update script_profile set archived = true, last_edited_at = $2 where script_id = $1 and not archived',
    [scriptId, now],
  );
}
