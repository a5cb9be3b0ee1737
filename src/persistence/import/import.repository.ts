import type { Sql } from '../database/sql.ts';

/** The new values of a computer. */
export interface Replacement<T> {
  id: number;
  value: T;
}

export interface LicenseRow {
  id: number;
  title: string;
  expires: Date | null;
}

/** Creates or changes licences. Every call here is set-based and part of the caller's transaction. */
export async function saveLicenses(tx: Sql, accountId: number, licenses: readonly LicenseRow[]): Promise<void> {
  if (licenses.length === 0) return;
  const column = <T>(value: (license: LicenseRow) => T) => licenses.map(value);
  await tx.query(SAVE_LICENSES, {
    accountId,
    ids: column(({ id }) => id),
    titles: column(({ title }) => title),
    expiries: column(({ expires }) => expires),
  });
  await tx.query(`select setval(pg_get_serial_sequence('legacy_license', 'id'), max(id)) from legacy_license`);
}

export interface ContractRow extends Omit<LicenseRow, 'id'> {
  id: string;
  free: boolean;
}

/** As {@link saveLicenses}, for contracts. */
export async function saveContracts(tx: Sql, accountId: number, contracts: readonly ContractRow[]): Promise<void> {
  const column = <T>(value: (contract: ContractRow) => T) => contracts.map(value);
  const columns = [
    column(({ id }) => id),
    column(({ title }) => title),
    column(({ free }) => free),
    column(({ expires }) => expires),
  ];
  await tx.query(SAVE_CONTRACTS, [accountId, ...columns]);
}

export interface ProfileRow {
  type: string;
  id: number;
  name: string;
  title: string;
}

/** As {@link saveLicenses}, for profiles; they may exchange names. */
export async function saveProfiles(tx: Sql, accountId: number, profiles: readonly ProfileRow[]): Promise<void> {
  const column = <T>(value: (profile: ProfileRow) => T) => profiles.map(value);
  const columns = [column(({ type }) => type), column(({ id }) => id), column(({ name }) => name)];
  await tx.query(FREE_NAMES, [accountId, ...columns]);
  await tx.query(SAVE_PROFILES, [accountId, ...columns, column(({ title }) => title)]);
}

/** Replaces the licences of computers; null removes one. */
export async function replaceLicenses(tx: Sql, computers: ReadonlyArray<Replacement<number | null>>): Promise<void> {
  const without = computers.filter(({ value }) => value === null).map(({ id }) => id);
  await tx.query('delete from computer_license where computer_id = any(:without::int[])', { without });
  await tx.query(REPLACE_LICENSES, { ids: computers.map(({ id }) => id), values: computers.map(({ value }) => value) });
}

export async function replaceContracts(
  tx: Sql,
  accountId: number,
  computers: ReadonlyArray<Replacement<readonly string[]>>,
): Promise<void> {
  const pairs = computers.flatMap(({ id, value }) => value.map((contract) => ({ id, contract })));
  const values = [pairs.map(({ id }) => id), pairs.map(({ contract }) => contract)];
  await tx.query(DROP_CONTRACTS, [computers.map(({ id }) => id), ...values]);
  await tx.query(ADD_CONTRACTS, [accountId, ...values]);
}

export interface ProfileAssociationRow {
  type: string;
  id: number;
  status: string | null;
}

/** Replaces the profiles of the given kinds. */
export async function replaceProfiles(
  tx: Sql,
  accountId: number,
  computers: ReadonlyArray<Replacement<readonly ProfileAssociationRow[]>>,
): Promise<void> {
  const places = computers.flatMap(({ id, value }) => value.map((place) => ({ computer: id, ...place })));
  const values = [places.map(({ computer }) => computer), places.map(({ type }) => type), places.map(({ id }) => id)];
  await tx.query(LEAVE_PROFILES, [computers.map(({ id }) => id), ...values]);
  await tx.query(JOIN_PROFILES, [accountId, ...values, places.map(({ status }) => status)]);
}

const SAVE_LICENSES = `
  insert into legacy_license (id, account_id, title, expires)
  select l.id, :accountId, l.title, l.expires from unnest(:ids::int[], :titles::text[], :expiries::timestamptz[]) as l(id, title, expires)
  on conflict (id) do update set title = excluded.title, expires = excluded.expires`;

const SAVE_CONTRACTS = `
  insert into contract (account_id, id, title, free, expires)
  select $1, c.id, c.title, c.free, c.expires
  from unnest($2::text[], $3::text[], $4::bool[], $5::timestamptz[]) as c(id, title, free, expires)
  on conflict (account_id, id) do update set title = excluded.title, free = excluded.free, expires = excluded.expires`;

const FREE_NAMES = `
  update profile p set name = gen_random_uuid()::text
  from unnest($2::text[], $3::int[], $4::text[]) as n(type, id, name)
  where p.account_id = $1 and p.type = n.type and p.id = n.id and p.name <> n.name`;

const SAVE_PROFILES = `
  insert into profile (account_id, type, id, name, title)
  select $1, p.type, p.id, p.name, p.title
  from unnest($2::text[], $3::int[], $4::text[], $5::text[]) as p(type, id, name, title)
  on conflict (account_id, type, id) do update set name = excluded.name, title = excluded.title`;

const REPLACE_LICENSES = `
  insert into computer_license (computer_id, license_id)
  select l.computer_id, l.license_id from unnest(:ids::int[], :values::int[]) as l(computer_id, license_id)
  where l.license_id is not null
  on conflict (computer_id) do update set license_id = excluded.license_id`;

// `not exists`, because PostgreSQL evaluates a long `not in` again for every row.
const DROP_CONTRACTS = `
  delete from computer_contract o where o.computer_id = any($1::int[])
    and not exists (
      select from unnest($2::int[], $3::text[]) as n(computer_id, contract_id)
      where n.computer_id = o.computer_id and n.contract_id = o.contract_id)`;

const ADD_CONTRACTS = `
  insert into computer_contract (account_id, computer_id, contract_id)
  select $1, c.computer_id, c.contract_id from unnest($2::int[], $3::text[]) as c(computer_id, contract_id)
  on conflict do nothing`;

const LEAVE_PROFILES = `
  delete from computer_profile o where o.computer_id = any($1::int[])
    and not exists (
      select from unnest($2::int[], $3::text[], $4::int[]) as n(computer_id, type, profile_id)
      where n.computer_id = o.computer_id and n.type = o.type and n.profile_id = o.profile_id)`;

// An unchanged status keeps its start time.
const JOIN_PROFILES = `
  insert into computer_profile (account_id, computer_id, type, profile_id, status)
  select $1, p.computer_id, p.type, p.profile_id, p.status
  from unnest($2::int[], $3::text[], $4::int[], $5::text[]) as p(computer_id, type, profile_id, status)
  on conflict (computer_id, type, profile_id) do update set status = excluded.status
  where computer_profile.status is distinct from excluded.status`;
