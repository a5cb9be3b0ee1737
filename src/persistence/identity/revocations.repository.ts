import type { Sql } from '../database/sql.ts';

/** Ends the tokens with these ids or session ids, and deletes expired revocations. */
export async function revokeTokens(
  sql: Sql,
  tokens: { ids: readonly string[]; expiresAt: Date },
  now: Date,
): Promise<void> {
  await sql.query(
    'insert into revoked_token (token_id, expires_at) select distinct unnest($1::text[]), $2::timestamptz on conflict do nothing',
    [tokens.ids, tokens.expiresAt],
  );
  await sql.query('delete from revoked_token where expires_at < $1', [now]);
}

export async function revokePerson(tx: Sql, personId: number): Promise<void> {
  await tx.query('update person set token_epoch = token_epoch + 1 where id = $1', [personId]);
}

/** Ends every token for an account. @returns null when there is no such account */
export async function revokeAccount(
  tx: Sql,
  by: { id: number } | { name: string },
): Promise<{ id: number; name: string; title: string } | null> {
  const [where, value] = 'id' in by ? ['id = $1', by.id] : ['name = $1', by.name];
  const rows = await tx.query<{ id: number; name: string; title: string }>(
    `update account set token_epoch = token_epoch + 1 where ${where} returning id, name, title`,
    [value],
  );
  return rows[0] ?? null;
}

export async function revokeSystem(tx: Sql): Promise<void> {
  await tx.query(`update system_setting set value = (value::int + 1)::text where key = 'token_epoch'`);
}

/**
 * As {@link revokeSystem}, for a restored database that may not know the latest epoch: the new one is the number of
 * seconds since 2026, higher than any earlier revocation can have reached.
 */
export async function revokeAfterRestore(tx: Sql): Promise<void> {
  await tx.query(
    `update system_setting set value = greatest(value::int + 1, extract(epoch from now() - timestamptz '2026-01-01Z')::int)::text
     where key = 'token_epoch'`,
  );
}
