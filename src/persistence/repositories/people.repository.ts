import type { Sql } from '../sql.ts';

export interface PersonRow {
  name: string;
  email: string;
  allowable_emails: string[];
  identity: string;
  timezone: string;
  last_login_time: Date | null;
  last_login_host: string | null;
  /** Name of an account. */
  preferred_account: string | null;
}

/** A person as they see themselves. */
export async function findPerson(sql: Sql, personId: number): Promise<PersonRow | null> {
  const rows = await sql.query<PersonRow>(
    `select p.name, p.email, p.allowable_emails, p.identity, p.timezone, p.last_login_time, p.last_login_host,
       a.name as preferred_account
     from person p left join account a on a.id = p.preferred_account_id where p.id = $1`,
    [personId],
  );
  return rows[0] ?? null;
}
