import type { Sql } from '../database/sql.ts';

export interface PreferencesRow {
  title: string;
  /** Null: computers need none. */
  registration_key: string | null;
  auto_register: boolean;
  /** -1: forever. */
  audit_retention_days: number;
}

const COLUMNS = 'title, registration_key, auto_register, audit_retention_days';

export async function findPreferences(sql: Sql, accountId: number): Promise<PreferencesRow | null> {
  const rows = await sql.query<PreferencesRow>(`select ${COLUMNS} from account where id = $1`, [accountId]);
  return rows[0] ?? null;
}

/** Changes the given fields; undefined ones are unchanged. */
export async function updatePreferences(
  tx: Sql,
  accountId: number,
  change: Partial<PreferencesRow>,
): Promise<PreferencesRow | null> {
  const rows = await tx.query<PreferencesRow>(
    `update account set title = coalesce($2, title),
       registration_key = case when $3 then $4 else registration_key end,
       auto_register = coalesce($5, auto_register), audit_retention_days = coalesce($6, audit_retention_days)
     where id = $1 returning ${COLUMNS}`,
    [
      accountId,
      change.title ?? null,
      change.registration_key !== undefined,
      change.registration_key ?? null,
      change.auto_register ?? null,
      change.audit_retention_days ?? null,
    ],
  );
  return rows[0] ?? null;
}
