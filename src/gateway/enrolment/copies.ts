import type { Sql } from '../../persistence/database/sql.ts';

/** A copy that was sent away registers at once; later it may be anybody. */
const SENT_AWAY_FOR = `interval '1 hour'`;
const MAX_SENT_AWAY = 1000;

/**
 * Notes that a machine with the identity of another one is sent to register as a computer of its own. Machines that say
 * the same of themselves would else be taken for one that repeats itself, and share a computer until one of them uses it.
 */
export async function sendCopyAway(db: Sql, computerId: number, now: Date): Promise<void> {
  await db.query(`update agent set ${COUNTED} where computer_id = $1`, [computerId, now, MAX_SENT_AWAY]);
}

/**
 * Finds the computer that an identity was given for, which another machine with an identity for it uses. Notes that its
 * owner is sent away, once however often it comes.
 *
 * @returns null when nobody was ever given this identity, or not in this way
 */
export async function sendSpareAway(db: Sql, secureIdHash: Buffer, now: Date): Promise<{ title: string } | null> {
  const [row] = await db.query<{ title: string }>(
    SEND_SPARE_AWAY,
    [secureIdHash, now, MAX_SENT_AWAY],
    'gateway-send-spare-away',
  );
  return row ?? null;
}

/** The computer of which a registering machine says that it is a copy. */
export interface Original {
  computerId: number;
  /** The identity is this machine's alone: it tells it from every other copy. */
  isOwn: boolean;
}

/** Finds the computer of a former identity in an account. */
export async function findOriginal(tx: Sql, accountId: number, secureIdHash: Buffer): Promise<Original | null> {
  const [row] = await tx.query<Original & Record<string, unknown>>(
    FIND_ORIGINAL,
    [accountId, secureIdHash],
    'gateway-find-original',
  );
  return row ?? null;
}

/**
 * Whether a registration is that of a copy which was sent away. Each one counts once.
 *
 * @param digest - of the registration, for machines that do not say of which computer they are copies
 */
export async function isSentAway(tx: Sql, original: Original | null, digest: Buffer, now: Date): Promise<boolean> {
  const rows = original
    ? await tx.query(takeOne('s.computer_id = $1'), [original.computerId, now])
    : await tx.query(takeOne('s.registration_digest = $1'), [digest, now]);
  return rows.length > 0;
}

const RECENT = (alias: string) => `${alias}.copies_sent_away_at > $2::timestamptz - ${SENT_AWAY_FOR}`;

const COUNTED = `
  copies_sent_away = least(case when ${RECENT('agent')} then copies_sent_away else 0 end + 1, $3),
  copies_sent_away_at = $2`;

const SEND_SPARE_AWAY = `
  with spare as (
    select s.computer_id, c.title from agent_spare_identity s join computer c on c.id = s.computer_id
    where s.secure_id_hash = $1
  ), first as (
    update agent_spare_identity set sent_away = true where secure_id_hash = $1 and not sent_away returning computer_id
  ), counted as (
    update agent set ${COUNTED} from first where agent.computer_id = first.computer_id
  )
  select title from spare`;

const FIND_ORIGINAL = `
  select i.computer_id as "computerId", i.own as "isOwn"
  from (
    select computer_id, false as own from agent_identity where secure_id_hash = $2
    union all
    select computer_id, true from agent_spare_identity where secure_id_hash = $2
  ) i join computer c on c.id = i.computer_id and c.account_id = $1
  order by i.own desc limit 1`;

const takeOne = (which: string) => `
  update agent set copies_sent_away = copies_sent_away - 1
  where computer_id = (
    select s.computer_id from agent s where ${which} and s.copies_sent_away > 0 and ${RECENT('s')}
    order by s.computer_id limit 1 for update)
  returning computer_id`;
