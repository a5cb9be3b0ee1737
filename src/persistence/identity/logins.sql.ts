import type { Origin } from '../../domain/events/events.ts';
import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { LoginFailure } from './login.entity.ts';
import { withSavepoint } from '../database/transactions.ts';

export type LoginPerson = Row<'person', 'id, name, email, password_hash, token_epoch, preferred_account_id'>;

/** Addresses, and login names that are addresses, are case-insensitive. */
export type PersonKey = { email: string } | { identity: string; anyCase: boolean } | { id: number };

/** The person with this address, login name or id. */
export async function findLoginPerson(sql: Sql, by: PersonKey): Promise<LoginPerson | null> {
  const [key, where] = whichPerson(by);
  const rows = await sql.query<LoginPerson>(
    `select id, name, email, password_hash, token_epoch, preferred_account_id from person where ${where}`,
    by,
    `login-person-by-${key}`,
  );
  return rows[0] ?? null;
}

function whichPerson(by: PersonKey): [key: string, where: string] {
  if ('id' in by) return ['id', 'id = :id'];
  if ('email' in by) return ['email', 'lower(email) = lower(:email)'];
  if (!by.anyCase) return ['identity', 'identity = :identity'];
  // Of two that differ in case only, the exact match.
  return ['identity-any-case', 'lower(identity) = lower(:identity) order by identity = :identity desc limit 1'];
}

interface FoundAccessKey {
  person: LoginPerson;
  accountName: string;
  secretDigest: Buffer;
  expiresAt: Date | null;
}

/** The person, account and secret behind an access key. */
export async function findAccessKey(sql: Sql, accessKey: string): Promise<FoundAccessKey | null> {
  const [row] = await sql.query<LoginPerson & Omit<FoundAccessKey, 'person'>>(
    `select p.id, p.name, p.email, p.password_hash, p.token_epoch, p.preferred_account_id,
       a.name as "accountName", k.secret_digest as "secretDigest", k.expires_at as "expiresAt"
     from credential k join person p on p.id = k.person_id join account a on a.id = k.account_id
     where k.access_key = :accessKey`,
    { accessKey },
  );
  if (!row) return null;
  const { accountName, secretDigest, expiresAt, ...person } = row;
  return { person, accountName, secretDigest, expiresAt };
}

/** Ids of people by the given addresses, ignoring case and surrounding spaces. */
export async function findPeopleByEmail(sql: Sql, emails: readonly string[]): Promise<Map<string, number[]>> {
  const given = [...new Set(emails)];
  const rows = await sql.query<{ email: string; ids: number[] }>(
    `select t.given as email, array_agg(p.id) as ids
     from unnest(:given::text[], :emails::text[]) t(given, email) join person p on lower(p.email) = lower(t.email) group by 1`,
    { given, emails: given.map((email) => email.trim()) },
  );
  return new Map(rows.map(({ email, ids }) => [email, ids]));
}

export type LoginAccount = Row<'account', 'id, name, title, token_epoch'> & { membership: number };

/** The accounts of a person, in order of joining. */
export function findLoginAccounts(sql: Sql, personId: number): Promise<LoginAccount[]> {
  return sql.query<LoginAccount>(
    `select a.id, a.name, a.title, a.token_epoch, m.number as membership from membership m join account a on a.id = m.account_id
     where m.person_id = :personId order by m.creation_time, a.id`,
    { personId },
    'login-accounts',
  );
}

interface SucceededLogin {
  person: LoginPerson;
  accountId: number;
  accessKey: string | null;
  nameDigest: Buffer;
  /** The address as the rate limiter counts it. */
  sender: string;
  origin: Origin;
  message: string;
  at: Date;
}

/** Updates the person first, so that concurrent logins wait only there. Returns the system's revocation counter. */
export async function recordLogin(sql: Sql, login: SucceededLogin): Promise<number> {
  const { person, origin } = login;
  const values = { ...login, ...origin, id: person.id, name: person.name, accountId: login.accountId || null };
  const rows = await sql.query<{ epoch: number }>(RECORD_LOGIN, values, 'login-succeeded');
  return rows[0]!.epoch;
}

const RECORD_LOGIN = `
  with who as (
    update person set last_login_time = :at, last_login_host = :address where id = :id returning id),
  used as (
    update credential set last_used_at = :at from who where access_key = :accessKey and person_id = who.id),
  here as (
    insert into login_address (name_digest, address, last_success) select :nameDigest, :sender, :at from who
    on conflict (name_digest, address) do update set last_success = excluded.last_success),
  line as (
    insert into event (account_id, person_id, person_name, entity_type, entity_id, entity_name, message, address, request_id)
    select :accountId, id, :name, 'Person', id, :name, :message, :address, :requestId from who)
  select value::int as epoch from system_setting where key = 'token_epoch'`;

/** In the log of the requested account, else of the one to be entered. Null `personId`: rolled back, for equal time. */
export async function recordFailedLogin(
  tx: Sql,
  login: { personId: number | null; accountName: string | null; message: string; origin: Origin },
): Promise<void> {
  await withSavepoint(tx, () => tx.query(INSERT_FAILURE, { ...login, ...login.origin }), login.personId !== null);
}

const INSERT_FAILURE = `
  insert into event (account_id, person_name, entity_type, entity_id, entity_name, message, address, request_id)
  select (select m.account_id from membership m join account a on a.id = m.account_id where m.person_id = p.id
    order by a.name = :accountName desc nulls last, m.account_id = p.preferred_account_id desc nulls last, m.creation_time, a.id
    limit 1), 'unknown', 'Person', p.id, coalesce(p.name, ''), :message, :address, :requestId
  from (values (:personId::int)) wanted(id) left join person p on p.id = wanted.id`;

export interface FailureCounts {
  here: number;
  here_since: Date | null;
  everywhere: number;
  everywhere_since: Date | null;
  across: number;
  across_since: Date | null;
  known_address: boolean;
}

/** Failures of a name from one address and from all, and of the address with any name (at most `acrossAtMost`). */
export async function countLoginFailures(
  sql: Sql,
  of: { nameDigest: Buffer; address: string; hereSince: Date; everywhereSince: Date; acrossAtMost: number },
): Promise<FailureCounts> {
  const rows = await sql.query<FailureCounts>(
    `select count(*) filter (where address = :address and at > :hereSince)::int as here,
       min(at) filter (where address = :address and at > :hereSince) as here_since,
       count(at)::int as everywhere, min(at) as everywhere_since,
       exists (select 1 from login_address a where a.name_digest = :nameDigest and a.address = :address) as known_address,
       across.count as across, across.since as across_since
     from (select count(*)::int as count, min(at) as since from (
         select at from login_failure where address = :address and at > :hereSince order by at desc limit :acrossAtMost) newest) across
       left join login_failure on name_digest = :nameDigest and at > :everywhereSince
     group by across.count, across.since`,
    of,
    'login-failures',
  );
  return rows[0]!;
}

/** Records a failure and deletes those older than `purgeBefore`. */
export async function recordLoginFailure(
  sql: Sql,
  failure: { nameDigest: Buffer; address: string; at: Date; purgeBefore: Date },
): Promise<void> {
  await sql.query('insert into login_failure (name_digest, address, at) values (:nameDigest, :address, :at)', failure);
  await sql.query('delete from login_failure where at < :purgeBefore', failure);
}

/** Ends the throttling of a login name. Idempotent. */
export async function deleteLoginFailures(sql: Sql, nameDigest: Buffer): Promise<void> {
  await sql.em.nativeDelete(LoginFailure, { nameDigest });
}
