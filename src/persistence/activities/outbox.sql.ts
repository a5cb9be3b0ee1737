import type { Row } from '../database/row.ts';
import type { Sql } from '../database/sql.ts';
import { OutboxCommand as OutboxCommandEntity } from './outbox.entity.ts';

/** Starts the workflow of the activity, or cancels the workflow, whose id is `key`. */
export type OutboxCommand = Row<'outbox', 'id, kind, key, traceparent'>;

export const OUTBOX_CHANNEL = 'flotilla_outbox';
/** Payload of {@link OUTBOX_CHANNEL} when no schedule has changed; otherwise empty. */
export const ACTIVITIES = 'activities';
/**
 * Notified when operations of batches with at most {@link SMALL_BATCH} computers were delivered or have ended. The payload
 * then is the ids of these batches, separated by spaces, or empty.
 */
export const RESULTS_CHANNEL = 'flotilla_results';
/** Payload of {@link RESULTS_CHANNEL} when operations were only delivered. */
export const DELIVERED = 'delivered';
/** Payload of {@link RESULTS_CHANNEL} when audit reports have come. */
export const AUDIT_REPORTS = 'audit reports';

/** Batches up to this size are woken for each result; for larger ones, wake-ups are coalesced. */
export const SMALL_BATCH = 10;
/** Ids in one payload, which has less than 8,000 bytes; the payload of more batches is empty. */
export const NOTIFIED_BATCHES = 500;

/** Subscribes a connection to notifications of new outbox commands and of results. */
export async function listenForWork(connection: { query(text: string): Promise<unknown> }): Promise<void> {
  await connection.query(`listen ${OUTBOX_CHANNEL}; listen ${RESULTS_CHANNEL}`);
}

/** Wakes dispatchers when this transaction commits. @param what - {@link ACTIVITIES}, or all commands */
export async function wakeDispatchers(tx: Sql, what: typeof ACTIVITIES | '' = ''): Promise<void> {
  await tx.query(`select pg_notify('${OUTBOX_CHANNEL}', '${what}')`);
}

/** Whether the outbox has commands of these kinds. One statement, where a claim needs a transaction. */
export async function hasCommands(
  db: Sql,
  kinds: ReadonlyArray<'start' | 'cancel' | 'schedule_sync'>,
): Promise<boolean> {
  const rows = await db.query('select from outbox where kind = any(:kinds::text[]) limit 1', { kinds }, 'has-commands');
  return rows.length > 0;
}

/** Claims commands until the transaction ends, round-robin by account, without `except` and those of other dispatchers. */
export function claimCommands(tx: Sql, except: readonly number[], limit: number): Promise<OutboxCommand[]> {
  return tx.query<OutboxCommand>(CLAIM, { except, limit }, 'claim-commands');
}

/** Idempotent. */
export async function deleteCommands(tx: Sql, commands: readonly number[]): Promise<void> {
  await tx.query('delete from outbox where id = any(:commands::bigint[])', { commands }, 'delete-commands');
}

/** Whether the command that starts the workflow of an activity is still pending. */
export async function hasStartCommand(db: Sql, activityId: number | null): Promise<boolean> {
  return (await db.em.count(OutboxCommandEntity, { kind: 'start', key: String(activityId) })) > 0;
}

/** Candidates of all accounts per requested command: some are locked by other dispatchers. */
const LOOKED_AT_SHARE = 8;
const LOOKED_AT_LEAST = 4;

const CLAIM = `
  with recursive account(id) as (
    (select account_id from outbox where kind in ('start', 'cancel') order by account_id limit 1)
    union all
    select (
      select o.account_id from outbox o
      where o.kind in ('start', 'cancel') and o.account_id > a.id order by o.account_id limit 1)
    from account a where a.id is not null
  ), waiting as (
    select e.id, row_number() over (partition by a.id order by e.id) as turn
    from account a cross join lateral (
      select id from outbox
      where kind in ('start', 'cancel') and account_id = a.id and id <> all(:except::bigint[])
      order by id limit greatest(${LOOKED_AT_LEAST}, ${LOOKED_AT_SHARE} * :limit::int / (select count(*) from account))) e
  ), next as (
    select array_agg(id order by turn, id) as ids from waiting
  )
  select o.id, o.kind, o.key, o.traceparent from outbox o where o.id = any((select ids from next)::bigint[])
  order by array_position((select ids from next), o.id) limit :limit for update of o skip locked`;
