import { recordNotices } from '../../persistence/computers/computer-notices.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import { acceptComputers, beginAcceptance } from '../../services/computers/acceptance.ts';
import { digestSecret, secretMatches } from '../../services/identity/login/access-keys.ts';
import type { ProfileRunDeps } from '../../services/scripts/profiles/script-profile-runs.ts';
import { saveFaults } from '../facts/saving/save-facts.ts';
import { findOriginal, takeExpectedClone } from './clones.ts';
import { hashSecureId, newSecureId } from './identity.ts';
import { isWsl, type Registration, registrationDigest } from './registration.ts';

export type Enrolment =
  | { kind: 'enrolled'; computerId: number; secureId: string; approved: boolean }
  | { kind: 'refused'; info: 'unknown-account' | 'max-pending-computers' }
  | { kind: 'late' };

/** Assumed maximum network delay of a registration. */
const LATEST_SECONDS = 3600;

interface AccountRow {
  id: number;
  registration_key: string | null;
  auto_register: boolean;
  max_pending_computers: number;
  disabled: boolean;
}

/**
 * Enrols a computer, approved or pending.
 * @remarks A registration that is repeated because its response was lost finds the computer of the first one, as long
 * as the identity issued then is unused. Machines with equal registrations all get that computer at first; the one that
 * uses its identity first keeps it, and the others are rejected and get their own computers when they register again. A
 * registration that the network delayed until its computer had enrolled by a repetition has no effect. It looks like
 * that of a machine whose clock is behind, so the computer gets an event; such a machine can enrol once its clock has
 * passed the time of the other registration, at the latest after {@link LATEST_SECONDS}.
 * @param simulationKey - valid for every account; its computers are approved
 * @param limitAccount - called when the registration key is valid; may throw to reject the registration
 */
export async function enrol(
  { db, runs, simulationKey = null }: { db: Database; runs: ProfileRunDeps; simulationKey?: string | null },
  registration: Registration,
  now: Date,
  limitAccount: (accountId: number) => void,
): Promise<Enrolment> {
  return db.transaction(async (tx) => {
    const account = await findAccount(tx, registration.accountName);
    const isSimulated = simulationKey !== null && keyMatches(simulationKey, registration.password);
    const isAuthorized = isSimulated || keyMatches(account?.registration_key ?? null, registration.password);
    if (!account || account.disabled || !isAuthorized) return { kind: 'refused', info: 'unknown-account' };
    limitAccount(account.id);
    const approved = isSimulated || account.auto_register;
    if (approved) await beginAcceptance(tx, account.id);
    const { digest, existing, isNew } = await identifyMachine(tx, account.id, registration, now);
    const secureId = newSecureId();
    if (existing) {
      await addIdentity(tx, existing, hashSecureId(secureId), registration.madeAt);
      return { kind: 'enrolled', computerId: existing.id, secureId, approved: !existing.pending };
    }
    if (!isNew) return { kind: 'late' };
    if (!approved && (await isFull(tx, account))) return { kind: 'refused', info: 'max-pending-computers' };
    const secureIdHash = hashSecureId(secureId);
    const computerId = await insertComputer(tx, { accountId: account.id, registration, digest, secureIdHash, now });
    if (approved) {
      const computerIds = [computerId];
      const acceptance = { accountId: account.id, computerIds, accessGroupId: null, now, traceparent: null };
      await acceptComputers(tx, acceptance, runs);
      // Pending computers get no events.
      await saveFaults(tx, [{ computerId, faults: registration.faults }], now);
    }
    return { kind: 'enrolled', computerId, secureId, approved };
  });
}

interface IdentifiedMachine {
  digest: Buffer;
  existing: Enrolled | undefined;
  /** False for a registration that is older than that of a computer in use. */
  isNew: boolean;
}

/** Finds the computer of a registration; equal registrations wait until the transaction ends. */
async function identifyMachine(
  tx: Sql,
  accountId: number,
  registration: Registration,
  now: Date,
): Promise<IdentifiedMachine> {
  const former = registration.cloneSecureId ? hashSecureId(registration.cloneSecureId) : null;
  const original = former && (await findOriginal(tx, accountId, former));
  const digest = registrationDigest(accountId, registration, original?.isOwn ? former : null);
  await tx.query('select pg_advisory_xact_lock($1)', [digest.readBigInt64BE(0).toString()]);
  const existing = await findRepeated(tx, registration, digest);
  const isClone = (existing || original) && (await takeExpectedClone(tx, original, digest, now));
  if (existing && isClone && !original?.isOwn) return { digest, existing: undefined, isNew: true };
  const later = existing || original ? undefined : await findLaterRegistration(tx, registration, digest);
  if (later) await reportOutdatedRegistration(tx, later, registration.madeAt!, now);
  return { digest, existing, isNew: !later };
}

async function findAccount(tx: Sql, name: string): Promise<AccountRow | undefined> {
  const [account] = await tx.query<AccountRow>(
    `select id, registration_key, auto_register, max_pending_computers, disabled from account where name = $1`,
    [name],
    'gateway-find-account',
  );
  return account;
}

/** Accounts without a key accept any. */
function keyMatches(key: string | null, given: string | null): boolean {
  return !key || secretMatches(given ?? '', digestSecret(key));
}

interface Enrolled {
  id: number;
  pending: boolean;
}

/** Also finds pending computers that were used, if they have a machine id and are not registered as clones. */
async function findRepeated(tx: Sql, { cloneSecureId }: Registration, digest: Buffer): Promise<Enrolled | undefined> {
  const [row] = await tx.query<Enrolled>(
    `select c.id, c.state = 'pending' as pending
     from agent s join computer c on c.id = s.computer_id
     where s.registration_digest = $1 and not c.archived
       and (s.in_next is null or (c.state = 'pending' and c.machine_id is not null and not $2::boolean))
     order by c.id desc limit 1 for update of s`,
    [digest, cloneSecureId !== null],
    'gateway-find-repeated',
  );
  return row;
}

// Earlier identities stay valid until one is used, as any of the responses may have arrived.
async function addIdentity(tx: Sql, { id, pending }: Enrolled, hash: Buffer, madeAt: number | null): Promise<void> {
  await tx.query('insert into agent_identity (secure_id_hash, computer_id) values ($1, $2)', [hash, id]);
  const registered = 'update agent set registered_at_agent = greatest(registered_at_agent, $2) where computer_id = $1';
  await tx.query(registered, [id, madeAt]);
  if (!pending) return;
  await tx.query(
    `update agent set version = version + 1, in_next = null, out_base = null, token = null, request_digest = null,
       controls = '[]', head_tries = 0, head_sends = 0, client_types_digest = null
     where computer_id = $1 and in_next is not null`,
    [id],
  );
}

/** A computer in use that registered later. */
interface LaterRegistration {
  id: number;
  madeAt: number;
}

/** Clones that name their original are never late. */
async function findLaterRegistration(
  tx: Sql,
  { madeAt, cloneSecureId }: Registration,
  digest: Buffer,
): Promise<LaterRegistration | undefined> {
  if (madeAt === null || cloneSecureId !== null) return undefined;
  const [row] = await tx.query<LaterRegistration & Record<string, unknown>>(
    `select c.id, s.registered_at_agent as "madeAt"
     from agent s join computer c on c.id = s.computer_id
     where s.registration_digest = $1 and not c.archived and s.in_next is not null
       and s.registered_at_agent between $2 and $3
     order by s.registered_at_agent desc limit 1`,
    [digest, madeAt, madeAt + LATEST_SECONDS],
  );
  return row;
}

async function reportOutdatedRegistration(tx: Sql, later: LaterRegistration, madeAt: number, now: Date): Promise<void> {
  const at = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const message =
    `A registration was not accepted: by the clock of the machine it was made at ${at(madeAt)}, which is not after ` +
    `the registration of this computer at ${at(later.madeAt)}. Check the clock of the machine: it is accepted when it ` +
    'registers again and its clock is past that time.';
  await recordNotices(tx, [{ computerId: later.id, subject: 'late registration', message }], now);
}

async function isFull(tx: Sql, account: AccountRow): Promise<boolean> {
  // The lock keeps concurrent registrations from exceeding the limit together.
  await tx.query('select id from account where id = $1 for no key update', [account.id]);
  const [row] = await tx.query<{ full: boolean }>(
    `select count(*) >= $2 as full from computer where account_id = $1 and state = 'pending' and not archived`,
    [account.id, account.max_pending_computers],
  );
  return row!.full;
}

interface NewComputer {
  accountId: number;
  registration: Registration;
  digest: Buffer;
  secureIdHash: Buffer;
  now: Date;
}

async function insertComputer(
  tx: Sql,
  { accountId, registration, digest, secureIdHash, now }: NewComputer,
): Promise<number> {
  const [row] = await tx.query<{ id: number }>(
    INSERT,
    [
      accountId,
      registration.accessGroup,
      registration.title,
      registration.hostname,
      registration.tags,
      registration.vmInfo,
      registration.containerInfo,
      registration.machineId,
      registration.proInfo === null ? null : JSON.stringify(registration.proInfo),
      registration.hostagentUid,
      isWsl(registration),
      registration.cloneSecureId ? hashSecureId(registration.cloneSecureId) : null,
      digest,
      secureIdHash,
      now,
      registration.madeAt,
    ],
    'gateway-enrol',
  );
  return row!.id;
}

// The candidates are materialized: without statistics PostgreSQL would scan all approved computers of the fleet.
const INSERT = `
  with wanted as (
    select id from access_group
    where account_id = $1 and (name = $2 or title = $2 or name = 'global')
    order by (name = $2) desc nulls last, (title = $2) desc nulls last limit 1
  ), twin as materialized (
    select id, state, archived from computer where account_id = $1 and machine_id = $8
  ), original as materialized (
    select i.computer_id as id from (
      select computer_id from agent_identity where secure_id_hash = $12
      union all
      select computer_id from agent_spare_identity where secure_id_hash = $12
    ) i join computer o on o.id = i.computer_id and o.account_id = $1
    union all
    select id from twin where state = 'approved' and not archived
  ), made as (
    insert into computer (account_id, access_group_id, state, title, hostname, tags, vm_info, container_info, machine_id,
      distro_pro_info, hostagent_uid, is_wsl, clone_id, created_at)
    select $1, id, 'pending', $3, $4, $5::text[], $6, $7, $8, $9::jsonb, $10, $11, (select min(id) from original), $15
    from wanted returning id
  ), session as (
    insert into agent (computer_id, registration_digest, registered_at_agent) select id, $13, $16 from made
  ), identity as (
    insert into agent_identity (secure_id_hash, computer_id) select $14, id from made
  ), contact as (
    insert into computer_contact (computer_id) select id from made
  ), inventory as (
    insert into computer_inventory (computer_id, client_tags) select id, $5::text[] from made
  )
  select id from made`;
