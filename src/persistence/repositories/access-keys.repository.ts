import type { Sql } from '../sql.ts';
import type { LoginPerson } from './logins.repository.ts';

/** The person, account and secret behind an access key. */
export async function findAccessKey(
  sql: Sql,
  accessKey: string,
): Promise<{ person: LoginPerson; accountName: string; secretDigest: Buffer } | null> {
  const rows = await sql.query<LoginPerson & { account_name: string; secret_digest: Buffer }>(
    `select p.id, p.name, p.email, p.password_hash, p.token_epoch, p.preferred_account_id,
       a.name as account_name, k.secret_digest
     from access_key k join person p on p.id = k.person_id join account a on a.id = k.account_id
     where k.access_key = $1`,
    [accessKey],
  );
  const [row] = rows;
  if (!row) return null;
  const { account_name: accountName, secret_digest: secretDigest, ...person } = row;
  return { person, accountName, secretDigest };
}

/** Every account of a person, first joined first, with the key of their pair where there is one. */
export function listAccessKeys(
  sql: Sql,
  personId: number,
): Promise<Array<{ accountName: string; accountTitle: string; accessKey: string | null }>> {
  return sql.query(
    `select a.name as "accountName", a.title as "accountTitle", k.access_key as "accessKey"
     from membership m join account a on a.id = m.account_id
     left join access_key k on k.account_id = m.account_id and k.person_id = m.person_id
     where m.person_id = $1 order by m.creation_time, a.id`,
    [personId],
  );
}

/** Stores the one pair of a person and account; an earlier one is gone. */
export async function replaceAccessKey(
  tx: Sql,
  pair: { accountId: number; personId: number; accessKey: string; secretDigest: Buffer },
): Promise<void> {
  await tx.query(
    `insert into access_key (account_id, person_id, access_key, secret_digest) values ($1, $2, $3, $4)
     on conflict (account_id, person_id) do update
     set access_key = excluded.access_key, secret_digest = excluded.secret_digest, creation_time = now()`,
    [pair.accountId, pair.personId, pair.accessKey, pair.secretDigest],
  );
}
