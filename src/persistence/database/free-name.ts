import type { Sql } from './sql.ts';

/** First free name: `slug`, `slug-2`... Caller locks. @see docs/api-conventions.md#usg-profile-fields-and-life-cycle */
export async function freeName(sql: Sql, table: 'access_group' | 'usg_profile', accountId: number, slug: string) {
  const rows = await sql.query<{ name: string }>(
    `select candidate as name
     from (select :slug::text || case when n = 1 then '' else '-' || n end as candidate, n
       from generate_series(1, (select count(*) + 1 from ${table} where account_id = :accountId and starts_with(name, :slug::text))) n) c
     where not exists (select from ${table} t where t.account_id = :accountId and t.name = candidate)
     order by n limit 1`,
    { accountId, slug },
  );
  return rows[0]!.name;
}
