import type { Sql } from '../database/sql.ts';

export interface ComputerNotice {
  computerId: number;
  /** The event log records at most one event per subject and day. */
  subject: string;
  message: string;
}

/** Maximum number of notices per computer and day: agents control how many arise. */
const MAX_PER_DAY = 20;

/** Records new notices in the accounts' event logs, in the caller's transaction. Serialized per computer. */
export async function recordNotices(tx: Sql, notices: readonly ComputerNotice[], now: Date): Promise<void> {
  await tx.query(RECORD, {
    computerIds: notices.map(({ computerId }) => computerId),
    subjects: notices.map(({ subject }) => subject.slice(0, 300)),
    messages: notices.map(({ message }) => message),
    now,
    maxPerDay: MAX_PER_DAY,
  });
}

const RECORD = `
  with given as (
    select distinct on (g.computer_id, g.notice) g.*
    from unnest(:computerIds::int[], :subjects::text[], :messages::text[]) with ordinality g(computer_id, notice, message, place)
    order by g.computer_id, g.notice, g.place
  ), recent as materialized (
    select computer_id, notice from computer_notice
    where computer_id = any(:computerIds::int[]) and noted_at > :now::timestamptz - interval '1 day'
  ), fresh as (
    select g.*, row_number() over (partition by g.computer_id order by g.place) as nth from given g
    where not exists (select from recent r where r.computer_id = g.computer_id and r.notice = g.notice)
  ), taken as materialized (
    select f.* from fresh f
    where f.nth + (select count(*) from recent r where r.computer_id = f.computer_id) <= :maxPerDay
  ), expired as (
    delete from computer_notice n
    where n.computer_id = any(:computerIds::int[]) and n.noted_at <= :now::timestamptz - interval '1 day'
      and not exists (select from taken t where t.computer_id = n.computer_id and t.notice = n.notice)
  ), noted as (
    insert into computer_notice (computer_id, notice, noted_at) select computer_id, notice, :now from taken
    on conflict (computer_id, notice) do update set noted_at = excluded.noted_at
  )
  insert into event (account_id, person_name, entity_type, entity_id, entity_name, message, address, request_id)
  select c.account_id, 'Flotilla', 'Computer', c.id, c.title, t.message, '', ''
  from taken t join computer c on c.id = t.computer_id
  order by t.computer_id, t.place`;
