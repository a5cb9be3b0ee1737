import { lockExclusive } from '../database/advisory-locks.ts';
import type { Sql } from '../database/sql.ts';

/** Serializes imports until the transaction ends: ids of licences are global. */
export async function lockImports(tx: Sql): Promise<void> {
  await lockExclusive(tx, 'imports', 0);
}

/** The account of a name; with null every account, two at most. */
export function findImportAccounts({ em }: Sql, name: string | null) {
  const accounts = em.getKysely().selectFrom('account').select(['id', 'name']).orderBy('id').limit(2);
  return (name === null ? accounts : accounts.where('name', '=', name)).execute();
}

/** Accounts by the ids of licences, which are global. */
export async function findLicenses({ em }: Sql, ids: readonly number[]): Promise<Map<number, number>> {
  const licenses = em.getKysely().selectFrom('legacy_license').select(['id', 'account_id']);
  const rows = await licenses.where((eb) => eb('id', '=', eb.fn.any(eb.val(ids)))).execute();
  return new Map(rows.map(({ id, account_id }) => [id, account_id]));
}

/** Those of some contracts that the account has. */
export async function findContracts({ em }: Sql, accountId: number, ids: readonly string[]): Promise<string[]> {
  const contracts = em.getKysely().selectFrom('contract').select('id').where('account_id', '=', accountId);
  const rows = await contracts.where((eb) => eb('id', '=', eb.fn.any(eb.val(ids)))).execute();
  return rows.map(({ id }) => id);
}

/** Every profile of the imported kinds. */
export function findProfiles({ em }: Sql, accountId: number) {
  const profiles = em.getKysely().selectFrom('profile').select(['type', 'id', 'name']);
  return profiles.where('account_id', '=', accountId).execute();
}

/** Accepted, unarchived computers for ids or hostnames in any case, in order: number of matches, id of a single one. */
export function findComputers(
  tx: Sql,
  accountId: number,
  named: ReadonlyArray<{ id: number | null; hostname: string | null }>,
) {
  const values = { accountId, ...columns(named, 'id', 'hostname') };
  return tx.query<{ id: number | null; count: number }>(COMPUTERS, values);
}

interface Replacement<T> {
  id: number;
  value: T;
}

export interface License {
  id: number;
  title: string;
  expires: Date | null;
}

/** Creates or changes licences. Every call here is set-based and part of the caller's transaction. */
export async function saveLicenses(tx: Sql, accountId: number, licenses: readonly License[]): Promise<void> {
  if (licenses.length === 0) return;
  await tx.query(SAVE_LICENSES, { accountId, ...columns(licenses, 'id', 'title', 'expires') });
  await tx.query(`select setval(pg_get_serial_sequence('legacy_license', 'id'), max(id)) from legacy_license`);
}

export interface Contract extends Omit<License, 'id'> {
  id: string;
  free: boolean;
}

/** As {@link saveLicenses}, for contracts. */
export async function saveContracts(tx: Sql, accountId: number, contracts: readonly Contract[]): Promise<void> {
  await tx.query(SAVE_CONTRACTS, { accountId, ...columns(contracts, 'id', 'title', 'free', 'expires') });
}

/** Of a kind that is managed elsewhere; only its computers are stored here. */
export interface Profile {
  type: 'repository' | 'package' | 'upgrade' | 'reboot' | 'removal' | 'wsl';
  id: number;
  name: string;
  title: string;
}

/** As {@link saveLicenses}, for profiles; they may exchange names. */
export async function saveProfiles(tx: Sql, accountId: number, profiles: readonly Profile[]): Promise<void> {
  await tx.query(FREE_NAMES, { accountId, ...columns(profiles, 'type', 'id', 'name') });
  await tx.query(SAVE_PROFILES, { accountId, ...columns(profiles, 'type', 'id', 'name', 'title') });
}

/** Replaces the licences of computers; null removes one. */
export async function replaceLicenses(tx: Sql, computers: ReadonlyArray<Replacement<number | null>>): Promise<void> {
  const without = computers.filter(({ value }) => value === null).map(({ id }) => id);
  await tx.query('delete from computer_license where computer_id = any(:without::int[])', { without });
  await tx.query(REPLACE_LICENSES, columns(computers, 'id', 'value'));
}

/** Idempotent. Contracts that stay are not rewritten. */
export async function replaceContracts(
  tx: Sql,
  accountId: number,
  computers: ReadonlyArray<Replacement<readonly string[]>>,
): Promise<void> {
  const pairs = computers.flatMap(({ id, value }) => value.map((contract) => ({ id, contract })));
  const values = columns(pairs, 'id', 'contract');
  await tx.query(DROP_CONTRACTS, { ...values, computers: computers.map(({ id }) => id) });
  await tx.query(ADD_CONTRACTS, { ...values, accountId });
}

export type ProfileAssociation = Pick<Profile, 'type' | 'id'> & {
  status: 'compliant' | 'noncompliant' | null;
};

/** Replaces the profiles of computers. */
export async function replaceProfiles(
  tx: Sql,
  accountId: number,
  computers: ReadonlyArray<Replacement<readonly ProfileAssociation[]>>,
): Promise<void> {
  const places = computers.flatMap(({ id, value }) => value.map((place) => ({ computer: id, ...place })));
  const values = columns(places, 'computer', 'type', 'id', 'status');
  await tx.query(LEAVE_PROFILES, { ...values, computers: computers.map(({ id }) => id) });
  await tx.query(JOIN_PROFILES, { ...values, accountId });
}

function columns<T, Name extends keyof T & string>(rows: readonly T[], ...names: Name[]) {
  const entries = names.map((name) => [name, rows.map((row) => row[name])]);
  return Object.fromEntries(entries) as Record<Name, unknown[]>;
}

const COMPUTERS = `
  select case when count(c.id) = 1 then min(c.id) end as id, count(c.id)::int as count
  from unnest(:id::int[], :hostname::text[]) with ordinality as n(id, hostname, place)
  left join lateral (
    select c.id from computer c where c.id = n.id and c.account_id = :accountId and c.state = 'approved' and not c.archived
    union all
    select c.id from computer c
    where lower(c.hostname) = lower(n.hostname) and c.account_id = :accountId and c.state = 'approved' and not c.archived) c on true
  group by n.place order by n.place`;

const SAVE_LICENSES = `
  insert into legacy_license (id, account_id, title, expires)
  select l.id, :accountId, l.title, l.expires from unnest(:id::int[], :title::text[], :expires::timestamptz[]) as l(id, title, expires)
  on conflict (id) do update set title = excluded.title, expires = excluded.expires`;

const SAVE_CONTRACTS = `
  insert into contract (account_id, id, title, free, expires)
  select :accountId, c.id, c.title, c.free, c.expires
  from unnest(:id::text[], :title::text[], :free::bool[], :expires::timestamptz[]) as c(id, title, free, expires)
  on conflict (account_id, id) do update set title = excluded.title, free = excluded.free, expires = excluded.expires`;

const FREE_NAMES = `
  update profile p set name = gen_random_uuid()::text
  from unnest(:type::text[], :id::int[], :name::text[]) as n(type, id, name)
  where p.account_id = :accountId and p.type = n.type and p.id = n.id and p.name <> n.name`;

const SAVE_PROFILES = `
  insert into profile (account_id, type, id, name, title)
  select :accountId, p.type, p.id, p.name, p.title
  from unnest(:type::text[], :id::int[], :name::text[], :title::text[]) as p(type, id, name, title)
  on conflict (account_id, type, id) do update set name = excluded.name, title = excluded.title`;

const REPLACE_LICENSES = `
  insert into computer_license (computer_id, license_id)
  select l.computer_id, l.license_id from unnest(:id::int[], :value::int[]) as l(computer_id, license_id)
  where l.license_id is not null
  on conflict (computer_id) do update set license_id = excluded.license_id`;

// `not exists`, because PostgreSQL evaluates a long `not in` again for every row.
const DROP_CONTRACTS = `
  delete from computer_contract o where o.computer_id = any(:computers::int[])
    and not exists (
      select from unnest(:id::int[], :contract::text[]) as n(computer_id, contract_id)
      where n.computer_id = o.computer_id and n.contract_id = o.contract_id)`;

const ADD_CONTRACTS = `
  insert into computer_contract (account_id, computer_id, contract_id)
  select :accountId, c.computer_id, c.contract_id from unnest(:id::int[], :contract::text[]) as c(computer_id, contract_id)
  on conflict do nothing`;

const LEAVE_PROFILES = `
  delete from computer_profile o where o.computer_id = any(:computers::int[])
    and not exists (
      select from unnest(:computer::int[], :type::text[], :id::int[]) as n(computer_id, type, profile_id)
      where n.computer_id = o.computer_id and n.type = o.type and n.profile_id = o.profile_id)`;

// An unchanged status keeps its start time.
const JOIN_PROFILES = `
  insert into computer_profile (account_id, computer_id, type, profile_id, status)
  select :accountId, p.computer_id, p.type, p.profile_id, p.status
  from unnest(:computer::int[], :type::text[], :id::int[], :status::text[]) as p(computer_id, type, profile_id, status)
  on conflict (computer_id, type, profile_id) do update set status = excluded.status
  where computer_profile.status is distinct from excluded.status`;
