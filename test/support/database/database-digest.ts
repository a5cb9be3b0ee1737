import type { Database } from '../../../src/persistence/database/sql.ts';

/** Of failed logins, which are counted. */
const VOLATILE = ['login_failure', 'login_address'];

/**
 * Digest of every table that requests may change, or of one account's rows of them; what every login writes aside.
 */
export async function fingerprint(db: Database, accountId?: number): Promise<string> {
  const tables = await db.query<{ name: string }>(
    `select t.table_name as name from information_schema.tables t
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and t.table_name <> all($1)
       and ($2 or exists (select from information_schema.columns c
         where c.table_name = t.table_name and c.column_name = 'account_id'))
     order by 1`,
    [VOLATILE, accountId === undefined],
  );
  const where = accountId === undefined ? '' : `where account_id = ${accountId}`;
  const parts = tables.map(({ name }) => {
    const row = name === 'person' ? `to_jsonb(t) - 'last_login_time' - 'last_login_host'` : 't';
    return `select '${name}:' || md5(coalesce(string_agg((${row})::text, '' order by (${row})::text), '')) as line from "${name}" t ${where}`;
  });
  const rows = await db.query<{ line: string }>(parts.join(' union all '));
  return rows
    .map(({ line }) => line)
    .sort()
    .join('\n');
}
