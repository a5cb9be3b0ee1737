import type { Sql } from '../database/sql.ts';
import { HashIdDatabaseSchema } from './hash-id-database.entity.ts';

/** What an agent can name in the address of its database. */
export const CODE_NAME = '[a-z0-9.-]{1,64}';

/** Code names of the releases of computers that reported packages, those of most computers first. */
export async function findReleases(db: Sql, limit: number): Promise<string[]> {
  const rows = await db.query<{ code_name: string }>(
    `select c.distribution_info->>'code_name' as code_name from computer c
     where c.distribution_info->>'code_name' ~ :codeName
       and exists (select from computer_packages p where p.computer_id = c.id)
     group by 1 order by count(*) desc, 1 limit :limit`,
    { codeName: `^${CODE_NAME}$`, limit },
  );
  return rows.map((row) => row.code_name);
}

/** Null when there are several. */
export async function findOnlyAccount(db: Sql): Promise<number | null> {
  const rows = await db.query<{ id: number }>('select min(id) as id from account having count(*) = 1');
  return rows[0]?.id ?? null;
}

interface OfferChoice {
  codeName: string;
  /** Packages that fewer accounts know are left out. */
  accounts: number;
  onlyAccount: number | null;
  /** Computers of the release that are examined in each account, the newest. */
  computers: number;
  /** The newest packages are taken. */
  limit: number;
}

/** Packages that computers of a release can install, of so many accounts, or of one. In the order of their ids. */
export async function findOfferedPackages(db: Sql, choice: OfferChoice): Promise<Array<{ id: number; hash: Buffer }>> {
  const rows = await db.query<{ id: number; hash: Buffer }>(OFFERED, { ...choice });
  return rows.reverse();
}

export interface HashIdDatabase {
  codeName: string;
  onlyAccount: number | null;
  ids: readonly number[];
  etag: string;
  content: Buffer;
}

/** Replaces the file of a release; without an only account, every account may name its ids from then on. Idempotent. */
export async function saveHashIdDatabase(tx: Sql, { codeName, onlyAccount, ...file }: HashIdDatabase): Promise<void> {
  // An account that is created meanwhile waits, and gets these ids when it is.
  await tx.query('lock table hash_id_database in share row exclusive mode');
  await tx.query(SAVE, { codeName, onlyAccount, ...file });
  await tx.query(ASSIGN, { codeName });
}

export async function deleteHashIdDatabase(tx: Sql, codeName: string): Promise<void> {
  await tx.query('delete from hash_id_database where code_name = :codeName', { codeName });
}

export async function deleteHashIdDatabases(db: Sql, { except }: { except: readonly string[] }): Promise<void> {
  await db.em.nativeDelete(HashIdDatabaseSchema, { codeName: { $nin: [...except] } });
}

/** The digest of a release's file; null when there is none for everybody who may ask. */
export async function findHashIdDatabase(db: Sql, codeName: string): Promise<string | null> {
  const rows = await db.query<{ etag: string }>(
    `select d.etag from hash_id_database d where d.code_name = :codeName
     and (d.account_id is null or not exists (select from account a where a.id <> d.account_id))`,
    { codeName },
    'gateway-find-hash-id-database',
  );
  return rows[0]?.etag ?? null;
}

/** Null when it has been replaced by another. */
export async function readHashIdDatabase({ em }: Sql, codeName: string, etag: string): Promise<Buffer | null> {
  const databases = em.getKysely().selectFrom('hash_id_database').select('content').where('code_name', '=', codeName);
  return (await databases.where('etag', '=', etag).executeTakeFirst())?.content ?? null;
}

// Installed packages stay out: anyone can read the file, and would see which old versions are in use.
const OFFERED = `
  with known as (
    select a.id as account_id, range_agg(s.available) as ids
    from account a cross join lateral (
      select p.available from computer c join computer_packages p on p.computer_id = c.id
      where c.account_id = a.id and c.distribution_info->>'code_name' = :codeName and p.available <> '{}'
      order by c.id desc limit :computers) s
    where :onlyAccount::int is null or a.id = :onlyAccount
    group by a.id
  ), offered as (
    select n.id from known cross join unnest(known.ids) r(ids)
    cross join generate_series(lower(r.ids), upper(r.ids) - 1) n(id)
    group by n.id having count(*) >= :accounts
  )
  select p.id, p.hash from package p join offered using (id) order by p.id desc limit :limit`;

const SAVE = `
  insert into hash_id_database as d (code_name, account_id, packages, etag, content)
  select :codeName, :onlyAccount::int, range_agg(int4range(id, id, '[]')), :etag, :content::bytea
  from unnest(:ids::int[]) id
  on conflict (code_name) do update set account_id = excluded.account_id, etag = excluded.etag, content = excluded.content,
    packages = case when d.account_id is null and excluded.account_id is null then d.packages + excluded.packages
      else excluded.packages end
  where d.etag <> excluded.etag or d.account_id is distinct from excluded.account_id`;

const ASSIGN = `
  insert into account_packages as k (account_id, known)
  select a.id, d.packages from hash_id_database d cross join account a
  left join account_packages before on before.account_id = a.id
  where d.code_name = :codeName and d.account_id is null and not coalesce(before.known @> d.packages, false)
  order by a.id
  on conflict (account_id) do update set known = k.known + excluded.known`;
