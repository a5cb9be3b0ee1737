import type { Sql } from '../database/sql.ts';

/** A sign that a second machine may be using the identity of a computer. */
export interface SuspectedClone {
  computerId: number;
  accountId: number;
  title: string;
  address: string;
  /** What the computer did; follows its title in a sentence. */
  what: string;
}

/** Raises the alert about duplicates and writes an event per computer, at most every ten minutes for the same one. */
export async function recordSuspectedClones(sql: Sql, suspicions: readonly SuspectedClone[]): Promise<void> {
  await sql.query(
    RECORD,
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

const RECORD = `
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
