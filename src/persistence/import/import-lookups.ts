import { lockExclusive } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/** Serializes imports until the transaction ends: ids of licences are global. */
export async function lockImports(tx: Sql): Promise<void> {
  await lockExclusive(tx, 'imports', 0);
}

/** The account of a name; with null every account, two at most. */
export function findImportAccounts(tx: Sql, name: string | null): Promise<Array<{ id: number; name: string }>> {
  return tx.query('select id, name from account where :name::text is null or name = :name order by id limit 2', {
    name,
  });
}

/** Accounts by the ids of licences, which are global. */
export async function findLicenses(tx: Sql, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await tx.query<{ id: number; account_id: number }>(
    'select id, account_id from legacy_license where id = any(:ids::int[])',
    { ids },
  );
  return new Map(rows.map(({ id, account_id }) => [id, account_id]));
}

/** Those of some contracts that the account has. */
export async function findContracts(tx: Sql, accountId: number, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'select id from contract where account_id = :accountId and id = any(:ids::text[])',
    { accountId, ids },
  );
  return rows.map(({ id }) => id);
}

/** Every profile of the imported kinds. */
export function findProfiles(
  tx: Sql,
  accountId: number,
): Promise<
  Array<{ type: 'repository' | 'package' | 'upgrade' | 'reboot' | 'removal' | 'wsl'; id: number; name: string }>
> {
  return tx.query('select type, id, name from profile where account_id = :accountId', { accountId });
}

/**
 * The accepted, unarchived computers for ids or case-insensitive hostnames, in order.
 * @returns number of matches for each, and the id of a single match
 */
export function findComputers(
  tx: Sql,
  accountId: number,
  named: ReadonlyArray<{ id: number | null; hostname: string | null }>,
): Promise<Array<{ id: number | null; count: number }>> {
  const values = [accountId, named.map(({ id }) => id), named.map(({ hostname }) => hostname)];
  return tx.query(COMPUTERS, values);
}

const COMPUTERS = `
  select case when count(c.id) = 1 then min(c.id) end as id, count(c.id)::int as count
  from unnest($2::int[], $3::text[]) with ordinality as n(id, hostname, place)
  left join lateral (
    select c.id from computer c where c.id = n.id and c.account_id = $1 and c.state = 'approved' and not c.archived
    union all
    select c.id from computer c
    where lower(c.hostname) = lower(n.hostname) and c.account_id = $1 and c.state = 'approved' and not c.archived) c on true
  group by n.place order by n.place`;
