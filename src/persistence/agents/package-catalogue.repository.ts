import type { PackageDescription } from '../../domain/agents/deltas.ts';
import type { Sql } from '../database/sql.ts';
import { multirange } from './reported-packages.repository.ts';

/** Packages by the digests of their content; unknown ones are missing. */
export function findPackages(db: Sql, hashes: readonly Buffer[]): Promise<Array<{ id: number; hash: Buffer }>> {
  return db.query(
    'select id, hash from package where hash = any(:hashes::bytea[])',
    { hashes },
    'gateway-find-packages',
  );
}

/** Adds packages to the catalogue. Idempotent: rows are immutable. */
export async function addPackages(db: Sql, packages: readonly PackageDescription[]): Promise<void> {
  // A fixed order, so that agents with the same packages cannot deadlock.
  const rows = packages
    .toSorted((a, b) => Buffer.compare(a.hash, b.hash))
    .map(({ hash, installedSize, ...rest }) => ({
      ...rest,
      hash: hash.toString('hex'),
      installed_size: installedSize,
    }));
  await db.query(ADD, { rows: JSON.stringify(rows) });
}

/** Lets the computers of an account name these packages. Idempotent. */
export async function addAccountPackages(db: Sql, accountId: number, ids: readonly number[]): Promise<void> {
  const known = await multirange(ids.map((id) => [id, id]));
  await db.query(ADD_TO_ACCOUNT, { accountId, known }, 'gateway-add-account-packages');
}

const ADD = `
  insert into package (hash, type, name, version, section, summary, description, size, installed_size, relations)
  select decode(p.hash, 'hex'), p.type, p.name, p.version, p.section, p.summary, p.description, p.size, p.installed_size,
    p.relations
  from jsonb_to_recordset(:rows::jsonb) p(hash text, type int, name text, version text, section text, summary text,
    description text, size bigint, installed_size bigint, relations jsonb)
  order by p.hash
  on conflict (hash) do nothing`;

// Checks before inserting: a conflict that changes nothing would still lock the row.
const ADD_TO_ACCOUNT = `
  insert into account_packages as a (account_id, known)
  select :accountId::int, :known::int4multirange
  where not exists (select from account_packages k where k.account_id = :accountId::int and k.known @> :known::int4multirange)
  on conflict (account_id) do update set known = a.known + excluded.known where not a.known @> excluded.known`;
