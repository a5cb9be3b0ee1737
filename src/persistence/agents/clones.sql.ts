import type { Sql } from '../database/sql.ts';

/** A rejected clone registers at once; later registrations may have other causes. */
const EXPECTED_FOR = `interval '1 hour'`;
const MAX_EXPECTED = 1000;

/** The next equal registration gets its own computer; otherwise it would count as a repetition and share one. */
export async function expectClone(db: Sql, computerId: number, now: Date): Promise<void> {
  const statement = `update agent set ${EXPECT_ONE_MORE} where computer_id = :computerId`;
  await db.query(statement, { computerId, now, max: MAX_EXPECTED });
}

/** As {@link expectClone}, for the owner of a spare identity, once. @returns its computer; null if it is not spare */
export async function expectSpareOwner(db: Sql, secureIdHash: Buffer, now: Date): Promise<{ title: string } | null> {
  const parameters = { secureIdHash, now, max: MAX_EXPECTED };
  const [row] = await db.query<{ title: string }>(EXPECT_SPARE_OWNER, parameters, 'gateway-expect-spare-owner');
  return row ?? null;
}

interface Original {
  computerId: number;
  /** Only this machine had the identity, which distinguishes it from every other clone. */
  isOwn: boolean;
}

/** Finds the computer of a former identity. */
export async function findOriginal(tx: Sql, accountId: number, secureIdHash: Buffer): Promise<Original | null> {
  const [row] = await tx.query<Original>(FIND_ORIGINAL, { accountId, secureIdHash }, 'gateway-find-original');
  return row ?? null;
}

/** Whether an expected clone registers; removes the expectation. `digest`: for machines that name no original. */
export async function takeExpectedClone(tx: Sql, original: Original | null, digest: Buffer, now: Date) {
  const rows = original
    ? await tx.query<{ computer_id: number }>(takeOne('s.computer_id = :computerId'), {
        computerId: original.computerId,
        now,
      })
    : await tx.query<{ computer_id: number }>(takeOne('s.registration_digest = :digest'), { digest, now });
  return rows.length > 0;
}

export interface SuspectedClone {
  computerId: number;
  accountId: number;
  title: string;
  address: string;
  what: string;
}

/** Raises the alert about duplicates and writes an event per computer, at most every ten minutes for the same one. */
export async function recordSuspectedClones(sql: Sql, suspicions: readonly SuspectedClone[]): Promise<void> {
  await sql.query(
    RECORD_SUSPECTED,
    {
      computerIds: suspicions.map(({ computerId }) => computerId),
      accountIds: suspicions.map(({ accountId }) => accountId),
      titles: suspicions.map(({ title }) => title),
      addresses: suspicions.map(({ address }) => address),
      messages: suspicions.map(
        ({ title, what }) => `The computer ${title} ${what}; a second machine may be using its identity`,
      ),
    },
    'gateway-record-suspected-clones',
  );
}

const RECENT = (alias: string) => `${alias}.copies_sent_away_at > :now::timestamptz - ${EXPECTED_FOR}`;

const EXPECT_ONE_MORE = `
  copies_sent_away = least(case when ${RECENT('agent')} then copies_sent_away else 0 end + 1, :max),
  copies_sent_away_at = :now`;

const EXPECT_SPARE_OWNER = `
  with spare as (
    select s.computer_id, c.title from agent_spare_identity s join computer c on c.id = s.computer_id
    where s.secure_id_hash = :secureIdHash
  ), first as (
    update agent_spare_identity set sent_away = true where secure_id_hash = :secureIdHash and not sent_away returning computer_id
  ), counted as (
    update agent set ${EXPECT_ONE_MORE} from first where agent.computer_id = first.computer_id
  )
  select title from spare`;

const FIND_ORIGINAL = `
  select i.computer_id as "computerId", i.own as "isOwn"
  from (
    select computer_id, false as own from agent_identity where secure_id_hash = :secureIdHash
    union all
    select computer_id, true from agent_spare_identity where secure_id_hash = :secureIdHash
  ) i join computer c on c.id = i.computer_id and c.account_id = :accountId
  order by i.own desc limit 1`;

const takeOne = (which: string) => `
  update agent set copies_sent_away = copies_sent_away - 1
  where computer_id = (
    select s.computer_id from agent s where ${which} and s.copies_sent_away > 0 and ${RECENT('s')}
    order by s.computer_id limit 1 for update)
  returning computer_id`;

const RECORD_SUSPECTED = `
  with given as (
    select * from unnest(:computerIds::int[], :accountIds::int[], :titles::text[], :addresses::text[], :messages::text[])
      g(computer_id, account_id, title, address, message)
  ), known as (
    select g.*, s.doubt is not distinct from g.message and s.doubted_at > now() - interval '10 minutes' as repeated
    from given g left join computer_status s on s.computer_id = g.computer_id
  ), raised as (
    insert into computer_status as s (computer_id, doubted_at, doubt)
    select computer_id, now(), message from known where repeated is not true order by computer_id
    on conflict (computer_id) do update set doubted_at = excluded.doubted_at, doubt = excluded.doubt
  )
  insert into event (account_id, person_name, address, request_id, entity_type, entity_id, entity_name, message)
  select account_id, 'Flotilla', address, '', 'Computer', computer_id, title, message
  from known where repeated is not true`;
