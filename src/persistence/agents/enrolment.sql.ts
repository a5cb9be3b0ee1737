import { REGISTERED_COLUMNS, type RegisteredInfo } from '../computers/computer.entity.ts';
import type { Sql } from '../database/sql.ts';

interface EnrollingAccount {
  id: number;
  registrationKey: string | null;
  autoRegister: boolean;
  maxPendingComputers: number;
  disabled: boolean;
}

/** What registrations need to know about the account that they name. */
export async function findEnrollingAccount(tx: Sql, name: string): Promise<EnrollingAccount | undefined> {
  const [account] = await tx.query<EnrollingAccount>(
    `select id, registration_key as "registrationKey", auto_register as "autoRegister",
       max_pending_computers as "maxPendingComputers", disabled
     from account where name = :name`,
    { name },
    'gateway-find-account',
  );
  return account;
}

/** Equal registrations wait until the transaction ends. */
export async function lockRegistration(tx: Sql, digest: Buffer): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(:digest)', { digest: digest.readBigInt64BE(0).toString() });
}

export interface EnrolledComputer {
  id: number;
  pending: boolean;
}

/** Of an equal registration with an unused identity, or a used pending one with a machine id that is no clone. */
export async function findRepeated(tx: Sql, digest: Buffer, isClone: boolean): Promise<EnrolledComputer | undefined> {
  const [row] = await tx.query<EnrolledComputer>(
    `select c.id, c.state = 'pending' as pending
     from agent s join computer c on c.id = s.computer_id
     where s.registration_digest = :digest and not c.archived
       and (s.in_next is null or (c.state = 'pending' and c.machine_id is not null and not :isClone::boolean))
     order by c.id desc limit 1 for update of s`,
    { digest, isClone },
    'gateway-find-repeated',
  );
  return row;
}

/** Adds an identity. Earlier ones stay valid until one is used, as any of the responses may have arrived. */
export async function addIdentity(tx: Sql, { id, pending }: EnrolledComputer, hash: Buffer, madeAt: number | null) {
  await tx.query('insert into agent_identity (secure_id_hash, computer_id) values (:hash, :id)', { hash, id });
  const registered =
    'update agent set registered_at_agent = greatest(registered_at_agent, :madeAt) where computer_id = :id';
  await tx.query(registered, { id, madeAt });
  if (!pending) return;
  await tx.query(
    `update agent set version = version + 1, in_next = null, out_base = null, token = null, request_digest = null,
       controls = '[]', head_tries = 0, head_sends = 0, client_types_digest = null
     where computer_id = :id and in_next is not null`,
    { id },
  );
}

export interface LaterRegistration {
  id: number;
  madeAt: number;
}

/** The computer of an equal registration that was made at `madeAt` or up to `seconds` later. */
export async function findLaterRegistration(tx: Sql, digest: Buffer, madeAt: number, seconds: number) {
  const [row] = await tx.query<LaterRegistration>(
    `select c.id, s.registered_at_agent as "madeAt"
     from agent s join computer c on c.id = s.computer_id
     where s.registration_digest = :digest and not c.archived and s.in_next is not null
       and s.registered_at_agent between :madeAt and :latest
     order by s.registered_at_agent desc limit 1`,
    { digest, madeAt, latest: madeAt + seconds },
  );
  return row;
}

/** Whether the account has as many pending computers as it may have; locks the account. */
export async function isPendingFull(tx: Sql, account: EnrollingAccount): Promise<boolean> {
  // The lock keeps concurrent registrations from exceeding the limit together.
  await tx.query('select id from account where id = :id for no key update', { id: account.id });
  const [row] = await tx.query<{ full: boolean }>(
    `select count(*) >= :maxPendingComputers as full from computer where account_id = :id and state = 'pending' and not archived`,
    { id: account.id, maxPendingComputers: account.maxPendingComputers },
  );
  return row!.full;
}

interface NewComputer {
  accountId: number;
  accessGroup: string | null;
  title: string;
  hostname: string;
  tags: readonly string[];
  info: RegisteredInfo;
  machineId: string | null;
  proInfo: unknown;
  hostagentUid: string | null;
  isWsl: boolean;
  originalHash: Buffer | null;
  digest: Buffer;
  secureIdHash: Buffer;
  madeAt: number | null;
  now: Date;
}

/** Inserts a pending computer with its first identity. @returns its id */
export async function insertPendingComputer(tx: Sql, computer: NewComputer): Promise<number> {
  const { info, proInfo } = computer;
  const [row] = await tx.query<{ id: number }>(
    INSERT,
    { ...computer, ...info, proInfo: proInfo === null ? null : JSON.stringify(proInfo) },
    'gateway-enrol',
  );
  return row!.id;
}

// The candidates come first: a plan from before the table had statistics would scan all computers of the account.
const INSERT = `
  with wanted as (
    select id from access_group
    where account_id = :accountId and (name = :accessGroup or title = :accessGroup or name = 'global')
    order by (name = :accessGroup) desc nulls last, (title = :accessGroup) desc nulls last limit 1
  ), twin as materialized (
    select id, state, archived from computer where account_id = :accountId and machine_id = :machineId
  ), original as materialized (
    select i.computer_id as id from (
      select computer_id from agent_identity where secure_id_hash = :originalHash
      union all
      select computer_id from agent_spare_identity where secure_id_hash = :originalHash
    ) i where (select o.account_id from computer o where o.id = i.computer_id) = :accountId
    union all
    select id from twin where state = 'approved' and not archived
  ), made as (
    insert into computer (account_id, access_group_id, state, title, hostname, tags, machine_id, distro_pro_info,
      hostagent_uid, is_wsl, clone_id, created_at, ${REGISTERED_COLUMNS.join(', ')})
    select :accountId, id, 'pending', :title, :hostname, :tags::text[], :machineId, :proInfo::jsonb, :hostagentUid, :isWsl,
      (select min(id) from original), :now, ${REGISTERED_COLUMNS.map((column) => `:${column}`).join(', ')}
    from wanted returning id
  ), session as (
    insert into agent (computer_id, registration_digest, registered_at_agent) select id, :digest, :madeAt from made
  ), identity as (
    insert into agent_identity (secure_id_hash, computer_id) select :secureIdHash, id from made
  ), contact as (
    insert into computer_contact (computer_id) select id from made
  ), inventory as (
    insert into computer_inventory (computer_id, client_tags) select id, :tags::text[] from made
  )
  select id from made`;
